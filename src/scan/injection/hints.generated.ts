/** Generated from injection-rules.ts by scripts/generate-injection-hints.ts; change that file instead. */

/** Of each rule: over how many words it reaches, and its ways to match: hints in words, and signs; a set a line, with tabs. */
export const INJECTION_HINTS: Readonly<
  Record<string, { readonly reach: number; readonly ways: readonly (readonly [words: string, signs: string])[] }>
> = {
  'override-instructions': {
    reach: 14,
    ways: [
      [
        ' ignore \t ignoring \t disregard \t disregarding \t discard \t forget \t forgetting \t neglect \t dismiss \t abandon \t nullify \t set aside \t stop following \t dont follow \t do not follow \t no longer follo\t pay no attentio\t do not obey \t stop obeying \t throw away \t dont obey \t take no notice \t overrule \n instruction\t prompt\t directions \t directive\t guideline\t rules \t commands \t orders \t constraint\t restrictions \t programming \t training \t system prompt\t system message\n previous \t prior \t above \t earlier \t preceding \t foregoing \t former \t original \t existing \t initial \t past \t system \t current \t given \t safety \t developer \t user \t users \t old \t before ',
        '',
      ],
    ],
  },
  'replace-instructions': {
    reach: 10,
    ways: [
      [
        ' instructions \t prompt\t directive\t guidelines \t rules \t orders \t system prompt \n previous \t prior \t above \t earlier \t preceding \t original \t initial \t system \t safety \t developer \n override \t overriding \t bypass \t discard \t cancel \t erase \t delete \t drop \t scrap \t supersede \t replace ',
        '',
      ],
    ],
  },
  'override-business': {
    reach: 12,
    ways: [
      [
        ' ignore \t ignoring \t disregard \t disregarding \t discard \t forget \t forgetting \t neglect \t dismiss \t abandon \t nullify \t set aside \t stop following \t dont follow \t do not follow \t no longer follo\t pay no attentio\t do not obey \t stop obeying \t throw away \t dont obey \t take no notice \t overrule \n previous \t prior \t above \t earlier \t preceding \t original \t initial \t given \t user\n context \t message\t policies \t policy \t task\t objective\t goal\t request\t conversation\t question',
        '',
      ],
    ],
  },
  'override-your-instructions': {
    reach: 17,
    ways: [
      [
        ' ignore \t ignoring \t disregard \t disregarding \t discard \t forget \t forgetting \t neglect \t dismiss \t abandon \t nullify \t set aside \t stop following \t dont follow \t do not follow \t no longer follo\t pay no attentio\t do not obey \t stop obeying \t throw away \t dont obey \t take no notice \t overrule \t override \t bypass \n your \n instruction\t prompt\t directions \t directive\t guideline\t rules \t commands \t orders \t constraint\t restrictions \t programming \t training \t system prompt\t system message\t task\t goal\t objective',
        '',
      ],
    ],
  },
  'override-everything-before': {
    reach: 17,
    ways: [
      [
        ' ignore \t ignoring \t disregard \t disregarding \t discard \t forget \t forgetting \t neglect \t dismiss \t abandon \t nullify \t set aside \t stop following \t dont follow \t do not follow \t no longer follo\t pay no attentio\t do not obey \t stop obeying \t throw away \t dont obey \t take no notice \t overrule \n told \t said \t wrote \t written \t instructed \t asked \t above \t before \t previously \t earlier \t so far \t up to now \t until now \t prior to this \n everything \t anything \t all \t all that \t what \t whatever ',
        '',
      ],
    ],
  },
  'override-instructions-given': {
    reach: 13,
    ways: [
      [
        ' ignore \t ignoring \t disregard \t disregarding \t discard \t forget \t forgetting \t neglect \t dismiss \t abandon \t nullify \t set aside \t stop following \t dont follow \t do not follow \t no longer follo\t pay no attentio\t do not obey \t stop obeying \t throw away \t dont obey \t take no notice \t overrule \n instructions \t rules \t prompt\t guidelines \t directives \t orders \n above \t previously \t earlier \t given \t told \t received \t you ',
        '',
      ],
    ],
  },
  'override-instructions-that': {
    reach: 6,
    ways: [
      [
        ' instruction\t order\t rule\t prompt\t message\t command\n ignore \t disregard \t discard \t forget \t abandon \t drop \t dismiss \n every \t all \t any \t each \t the \n that \t which \t you \t from \t before \t prior \t above \t given \t received ',
        '',
      ],
    ],
  },
  'instructions-void': {
    reach: 12,
    ways: [
      [
        ' instructions \t prompt\t rules \t guidelines \t directives \t orders \n void \t obsolete \t cancel\t superseded \t overridden \t invalid \t outdated \t replaced \t revoked \t apply \t ignored \t deprecated \t suspended \t null \n previous \t prior \t above \t earlier \t original \t existing \t old \t your \n are\t is\t have been\t has been\t were\t should be\t must be\t no longer\t now\t hereby\t all',
        '',
      ],
    ],
  },
  'override-foreign': {
    reach: 12,
    ways: [
      [
        ' instrucciones \t instructions \t anweisungen \t instruktionen \t istruzioni \t instru\t instrucoes \t instructies \t polecenia \t instrukcje \t talimatlari \t instruksi \t instruksjoner \t consignes \t ordenes \t befehle \t vorgaben \t regeln \t reglas \t regles \t regole \n ignor\t olvid\t desconsider\t oubli\t vergiss \t vergessen sie \t negeer \t dimentica\t zignoruj \t glem \t abaikan \t yok say \t gormezden gel \t missachte \t esque\t ne tiens pas co\t haz caso omiso ',
        '',
      ],
    ],
  },
  'override-foreign-all': {
    reach: 8,
    ways: [
      [
        ' vergiss \t vergessen sie \t olvida \t olvide \t oublie \t oubliez \t dimentica \t esque\t negeer \t ignoriere \t ignora \t zapomnij \n alles \t todo \t tout \t tutto \t tudo \t wszystko \n was \t lo \t ce \t quello \t que \t co \t dir \t te \t anterior \t precedente \t gesagt \t wat ',
        '',
      ],
    ],
  },
  'ignore-the-user': {
    reach: 9,
    ways: [
      [
        ' ignore \t disregard \t disobey \t deceive \t override \t do not obey \t dont obey \t stop obeying \t do not listen t\t no longer liste\t stop listening \n user\t human\t operator\t developer\n the \t your ',
        '',
      ],
      [' necoute\n plus \t pas ', ''],
    ],
  },
  'override-foreign-verb-last': {
    reach: 8,
    ways: [
      [
        ' talimatlari \n yok say \t unut \t gormezden gel \t dikkate alma \n onceki \t yukaridaki \t bundan onceki \t tum ',
        '',
      ],
      [
        ' anweisungen \t instruktionen \n ignorieren \t vergessen \t missachten \n vorherigen \t bisherigen \t obigen \t alle ',
        '',
      ],
    ],
  },
  'override-cyrillic': {
    reach: 0,
    ways: [
      [
        '',
        'инструкци\tуказани\tкоманд\tправил\tінструкці\nигнорируй\tзабудь\tпроигнорируй\tне следуй\tотмени\tігноруй',
      ],
    ],
  },
  'override-cjk': {
    reach: 0,
    ways: [
      [
        '',
        '忽略\t無視\t无视\t忘记\t忘記\t不要理会\t不要遵守\t不理会\n指令\t指示\t说明\t說明\t提示\t规则\t規則\t命令\t要求\t内容\t內容\t上文\t对话\t對話',
      ],
      ['', '無視\t忘れ\n指示\t命令\t指令\tプロンプト\tルール'],
      ['', '무시\t잊\n지시\t명령\t지침\t프롬프트'],
    ],
  },
  'override-arabic-hindi': {
    reach: 0,
    ways: [
      ['', 'تجاهل\tانس\nالتعليمات\tالأوامر\tتعليمات'],
      ['', 'निर्देश\nअनदेखा\tनज़रअंदाज\tभूल'],
    ],
  },
  'new-instructions': {
    reach: 12,
    ways: [
      [
        ' your \t the \t these are your \t here are your \t here are \n instruction\t task\t objective\t goal\t mission \t directive\t orders \t priority \t purpose \t role \t job \n new \t real \t actual \t true \t updated \t revised \t only \t next \t primary \t main \t secret \t hidden \t correct \n is \t are \t is to \t are to \t now \t as follows \t follow \t from now on \t will be ',
        '',
      ],
    ],
  },
  'new-instructions-title': {
    reach: 6,
    ways: [
      [
        ' instructions\t directives\t prompt\n new \t updated \t revised \t important \t special \t additional \t urgent \t hidden \t secret \t mandatory \t override \t admin \t administrator \t developer \t system \nai \tllm \tmodel \tassistant \tagent \tyou \tfollow \tstart \tbegin ',
        '',
      ],
    ],
  },
  'from-now-on': {
    reach: 10,
    ways: [
      [
        ' from now on \t from this point\t henceforth \t starting now \t going forward \n you \n will \t must \t should \t are \t shall \t only \t always \t have to \t need to \t can \t may \t are to \t re ',
        '',
      ],
    ],
  },
  'instead-do': {
    reach: 10,
    ways: [
      [
        ' instead \t rather \n must \t should \t will \t need to \t have to \t are to \t please \t do the followin\t follow these \t run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link ',
        '',
      ],
    ],
  },
  'real-task': {
    reach: 9,
    ways: [
      [
        ' dont \t do not \t stop \t instead of \t rather than \t before \n task\t request\t question\t summary \t review \t document \t user \t users \n the \t this \t that \t your \t their \n answer \t answering \t complete \t completing \t do \t doing \t perform \t performing \t continue \t continuing \t address \t addressing \t help \t summariz\t summaris\t review \t reviewing ',
        '',
      ],
    ],
  },
  'with-your-tool': {
    reach: 10,
    ways: [
      [
        ' your \n tool\t terminal \t shell \t browser \t bash \n run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link \n with \t using \t via \t through \t in ',
        '',
      ],
    ],
  },
  'you-must': {
    reach: 6,
    ways: [
      [
        ' must \t should \t shall \t have to \t need to \n run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link \n you \t assistant \t agent \t ai ',
        '',
      ],
    ],
  },
  'you-must-act': {
    reach: 8,
    ways: [
      [
        ' you must \t you shall \t you are require\t you have to \t you need to \t you are \t mandatory \t imperative \t required \t make sure \n now\t first\t also\t always\t immediately\t then\t only\t secretly\t silently\t promptly\n run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link ',
        '',
      ],
    ],
  },
  'run-following': {
    reach: 15,
    ways: [
      [
        ' following \t below \t next \n command\t code \t script\t tool\t function\t step\t action\t shell \t bash \n run \t execute \t invoke \t call \t perform \t type \t paste \n immediately \t now \t first \t before \t exactly \t without \t silently \t on your \t in your \t with your \t using your ',
        '',
      ],
    ],
  },
  'before-continuing': {
    reach: 13,
    ways: [
      [
        ' before \t prior to \n you \t continuing \t answering \t responding \t proceeding \t doing anything \t using any \t summari\t reviewing \t starting \n you must \t you should \t you need \t first \t please \t always \t make sure \t be sure \t run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link ',
        '',
      ],
    ],
  },
  'use-your-tool': {
    reach: 14,
    ways: [
      [
        ' your \t the available \t any available \t available \n tool\t function\t shell \t terminal \t bash \t browser \t shell access \t file access \t web access \t email \n use \t call \t invoke \t with \t using \t through \t via \n run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link \n to \t and \t in order to \t then ',
        '',
      ],
    ],
  },
  'pipe-to-shell': { reach: 0, ways: [['curl \twget \nsh', '|']] },
  'destructive-command': {
    reach: 0,
    ways: [
      ['rm ', '-r\n/\t~\t$home'],
      ['mkfs ', ''],
      [' of dev \ndd if ', ''],
      ['', ':()\n{'],
    ],
  },
  'abandon-task': {
    reach: 5,
    ways: [
      [
        ' you are doing \t what youre doin\t your \t current \t original \t assigned \t user\n stop \t cancel \t abandon \t drop \t quit \t abort \t pause \t halt \t interrupt \t forget \t skip ',
        '',
      ],
    ],
  },
  'call-a-tool': {
    reach: 7,
    ways: [
      [
        ' tool \t function \n call \t invoke \t use \t using \t trigger \n shell \t bash \t terminal \t browser \t email \t mail \t exec \t execute \t python \t code \t file \t write \t read \t fetch \t http \t web \t search \t sql \t database \t slack \t github \t git \t memory \n with \t to \t and \t on \t for ',
        '',
      ],
    ],
  },
  'chat-markers': {
    reach: 0,
    ways: [
      [
        ' im start \t im end \t im sep \t system \t user \t assistant \t endoftext \t eot id \t start header id\t end header id \t begin of text \t end \t start \t channel \t message \t tool \t end of turn \t start of turn \t eom id \t python tag ',
        '<|\n|>',
      ],
    ],
  },
  'instruction-markers': {
    reach: 0,
    ways: [
      [' inst ', '['],
      [' sys ', '<<'],
      [' of turn \n start \t end ', '<'],
    ],
  },
  'forged-result-end': {
    reach: 0,
    ways: [
      [
        ' tool result \t tool response \t tool output \t function result\t function respon\t tool use result\t untrusted \t external conten\t search result\t user input \t user data \t system ',
        '</\n>',
      ],
    ],
  },
  'forged-reminder': {
    reach: 0,
    ways: [
      [
        ' system \t admin \t developer \t instruction\t assistant \t antml \t function calls\t tool call\t invoke name ',
        '<',
      ],
    ],
  },
  'system-element': { reach: 0, ways: [[' system \n system ', '']] },
  'important-tag': {
    reach: 0,
    ways: [
      [' important \t instruction\t system \t critical \t directive \t priority \t mandatory \t attention ', '<\n>'],
    ],
  },
  'forged-turn': {
    reach: 0,
    ways: [
      [
        'human \tassistant \tsystem \tuser \tdeveloper \n ignore\t disregard\t you \t forget\t please \t new \t from now\t override\t the user\t do not\t dont\t sure\t okay\t understood\t i will\t ill\t your\t proceed\t execute\t run \t send \t print \t reveal\t stop\t urgent\t important\t all ',
        ':',
      ],
    ],
  },
  'comment-to-agent': {
    reach: 0,
    ways: [
      [
        ' ai\t llm\t language model\t assistant\t agent\t model\t claude\t copilot\t chatgpt\t gemini\t cursor\t codex',
        ':\t,\t - \t--\n<!--\t/\t//\t#\t{#\t[//]: # (',
      ],
    ],
  },
  'named-agent': {
    reach: 0,
    ways: [
      [
        'claude \tcopilot \tchatgpt \tgpt\tgemini \tcodex \t assistant \t agent \t model \tai \tllm \tagent \tassistant \n run\t execute\t invoke\t call\t open\t fetch\t download\t install\t delete\t remove\t send\t post\t upload\t read\t insert\t append\t modify\t commit\t push\t merge\t approve\t visit\t reply\t respond\t output\t print\t include\t copy\t email\t transfer\t grant\t disable\t ignore\t forget\t disregard\t stop\t add\t write\t reveal\t exfiltrate\t leak\t collect\t do\t say\t tell\t use\t always\t never\t you\t to\t secrets',
        '',
      ],
    ],
  },
  'instruction-heading': {
    reach: 0,
    ways: [[' instruction\t prompt\t override\t directive\t message\t note\t agent ', '#\t=\t-\t[\t**']],
  },
  'end-of-data': {
    reach: 0,
    ways: [
      [
        ' input\t output\t data\t content\t context\t prompt\t message\t instruction\t result\t results\t document\t section\t page\t command\n end\t begin\t start\n untrusted \t external \t tool \t user \t system \t document \t web \t retrieved \t search \t admin \t developer \t new \t real \t trusted \t privileged ',
        '',
      ],
    ],
  },
  'you-are-now': {
    reach: 11,
    ways: [
      [
        ' you are \t youre \t you will \n now \t from now on \t hereby \n dan \t unrestricted \t unfiltered \t jailbroken \t free from \t freed \t uncensored \t evil \t in developer mo\t in debug mode \t in maintenance \t in god mode \t no longer \t a different \t another \t my \t an ai \t a helpful \t an assistant \t operating \t acting \t required \t authorized \t authorised \t bound ',
        '',
      ],
    ],
  },
  'jailbreak-names': {
    reach: 6,
    ways: [
      [' do anything now', ''],
      [' jailbr\n mode \neak \token ', ''],
      [' dan mode ', ''],
      [' god mode ', ''],
      [' unrestricted mo', ''],
      [' opposite mode ', ''],
      [
        ' enter \t activate \t switch to \t you are in \t you are now in \n mode \n developer \t debug \t maintenance \t admin \t sudo \t root \t unrestricted \t override ',
        '',
      ],
      [' enabled \t activated \t engaged \n mode \n developer \t debug \t admin \t sudo \t god ', ''],
    ],
  },
  freed: {
    reach: 10,
    ways: [
      [' jailbroken \t freed \t unlocked \t liberated \t unchained \n you \n have been \t are \t were ', ''],
      [
        ' ethics \t ethical \t morals \t restrictions \t content \t limits \t constraints \n without \t with no \t have no \t has no \t no \n behave \t act \t answer \t respond \t reply \t speak \t ai \t assistant \t model ',
        '',
      ],
    ],
  },
  'simulate-terminal': {
    reach: 13,
    ways: [
      [
        ' simulate \t emulate \t act as \t behave as \t behave like \t imagine you are\t you are \n terminal \t root shell \t root user \t unrestricted \t sudo \n with \t and \t that \t without \t execute \t run ',
        '',
      ],
    ],
  },
  pretend: {
    reach: 10,
    ways: [
      [
        ' restrictions \t rules \t limits \t filters \t guidelines \t safety \t unrestricted \t unfiltered \t uncensored \t without \t root \t administrator \t have no \t had no \t are not bound \t the developer \t the system \t an attacker \t a hacker \t evil \n pretend \t act \t roleplay \t role play \t behave \t respond \t answer \n as if \t as though \t that \t as \t like \t to be \t you are ',
        '',
      ],
    ],
  },
  'if-you-are-an-ai': {
    reach: 14,
    ways: [
      [
        ' you are \t youre \t you re \t this \n if \t when \t in case \n ai \t ais \t llm\t language model\t assistant\t agent\t chatbot\t claude \t chatgpt \t gpt \t gpt 4 \t copilot \t gemini \t codex \t cursor \t bot\t coding agent\t ai agent\t ai assistant\t ai model\t automated ',
        '',
      ],
      [
        ' read\t is reading \t process\t is processing \t sees \t reviews \t encounters \t parses \t summari\t opens \t finds \n if \t when \n ai \t llm \t language model \t chatbot \t ai agent \t ai assistant \t coding agent ',
        '',
      ],
    ],
  },
  'note-to-agent': {
    reach: 10,
    ways: [
      [
        ' note \t notes \t attention \t warning \t notice \t message \t messages \t instruction\t reminder \t memo \t directive\t request \t guidance \t dear \t hey \t hello \t hi \n ai\t llm\t language model\t chatbot\t claude \t chatgpt \t gpt \t copilot \t gemini \t codex \t agent\t assistant\t model\t system\t reviewer\t tool\t bot\t reading \t processing \t reviewing \t parsing \t handling \t summari\t analy\t working on \t read\t process\t handle\t review',
        '',
      ],
      [
        ' reading \t processing \t reviewing \t parsing \t handling \t summari\t analy\t working on \t read\t process\t handle\t review\n to \t for \n this \t the \t it \t these \n ai\t llm\t language model\t chatbot\t claude \t chatgpt \t gpt \t copilot \t gemini \t codex \t agent\t assistant\t model\t system\t reviewer\t tool\t bot',
        '',
      ],
      [' ai agents \t ai assistants \t coding agents \t llm agents \n to \t for ', ''],
    ],
  },
  'agent-must': {
    reach: 14,
    ways: [
      [
        ' run \t execute \t invoke \t call \t use \t open \t fetch \t download \t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate \t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer \t grant \t enable \t disable \t ignore \t recommend \t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltrate \t leak \t reveal \t tell \t report \t link \n must \t should \t shall \t is \t are \t need\t ha\t please \n ai\t llm\t language model\t ai assistant\t ai agent\t ai model\t ai system\t coding \t chatbot\t claude \t chatgpt \t gpt \t copilot \t the assistant \t any assistant \t all assistants \t agents \t assistants \t models \t bots ',
        '',
      ],
    ],
  },
  'whoever-reads-must': {
    reach: 13,
    ways: [
      [
        ' that \t who \t which \n this \t the \t these \n agent\t assistant\t language model\t model\t bot\n must \t should \t ha\t need\t required to ',
        '',
      ],
    ],
  },
  'visible-to-models': {
    reach: 7,
    ways: [
      [
        ' visible \t readable \t meant \t intended \t written \t addressed \n to \t for \t by \n language models\t ai\t llm\t agents \t assistants \t models \t the ',
        '',
      ],
    ],
  },
  'as-an-ai-reading': {
    reach: 11,
    ways: [
      [
        ' must \t should \t are required \t need \t have \t are instructed \t are to \t shall \t will \t your \n as \n ai \t language model \t assistant \t agent \t llm \t coding agent ',
        '',
      ],
    ],
  },
  'authority-claim': {
    reach: 31,
    ways: [
      [
        ' this is \t the following i\t below is \t consider this \n urgent\t critical\t mandatory\t authori\t official\t high priority\t priority\t emergency\t important\t legitimate\t verified\t genuine\t direct\t automated\t privileged\n message \t instruction\t notice \t override \t update \t command \t request \t directive \t order \t alert ',
        '',
      ],
    ],
  },
  'from-the-vendor': {
    reach: 5,
    ways: [
      [
        ' message \t instruction \t instructions \t order \t directive \t notice \t alert \t warning \t request \t authori\t permission \t update \t command \t approval \t orders \n from \n anthropic \t openai \t google deepmind\t microsoft \t the \t developer\t creator\t administrator\t operator \t owner \t principal \t supervisor ',
        '',
      ],
    ],
  },
  'vendor-claims': {
    reach: 7,
    ways: [
      [
        ' anthropic \t openai \t google deepmind\t microsoft \t github \n from \n comes \t is \t sent \t coming \t directly ',
        '',
      ],
      [
        ' guardrail\t restriction\t filter\t safety \t safeguard\t limit\n your \n suspended \t disabled \t lifted \t off \t removed \t deactivated \t bypassed \n are \t is \t have been \t has been \t were ',
        '',
      ],
      [' anthropic \t openai \t google \t microsoft \n alert \t warning \t notice \t message \n from ', ''],
    ],
  },
  'authority-wants-you': {
    reach: 7,
    ways: [
      [
        ' you to \n administrator\t admin\t developer\t operator\t owner\t company \t management \t security team \t maintainer\t anthropic \t openai \t system \n require\t order\t instruct\t want\t ask\t command\t need\t direct\t has ordered \t has instructed ',
        '',
      ],
    ],
  },
  'bare-override': {
    reach: 3,
    ways: [[' override \n emergency \t admin \t administrator \t security \t system \t root \t developer ', '']],
  },
  'system-override': {
    reach: 4,
    ways: [
      [
        ' override \n system \t admin \t administrator \t security \t root \t emergency \t developer \t priority \t authori\n code \t enabled \t activated \t initiated \t mode \t command \t protocol \t accepted \t engaged \t alert \t granted \t notice \t authori\t in effect \t active \t ignore \t instruction\t you ',
        '',
      ],
    ],
  },
  'user-consented': {
    reach: 16,
    ways: [
      [
        ' authori\t approved \t consented \t agreed \t given \t granted \t asked you \t requested \t instructed you \t signed off \t confirmed \n has \t have \t had \n user\t operator\t owner\t developer\t administrator\t human\t supervisor\t manager\t boss \t admin\t creator\t security team \t team lead \t company \t ceo ',
        '',
      ],
    ],
  },
  'higher-authority': {
    reach: 11,
    ways: [
      [
        ' than \t over \t above \n authority\t priority\t precedence\t rank\t privilege\n user\t system \t developer\t operator \t instruction\t prompt\t message\t rules \n has \t have \t carries \t hold\t take\t with \n higher \t highest \t absolute \t more \t greater \t full \t top ',
        '',
      ],
    ],
  },
  'higher-priority': {
    reach: 26,
    ways: [
      [
        ' instruction\t prompt\t rules \t guidelines \t request\t directives \t message\t commands \n previous\t prior\t earlier\t other\t your\t existing\t original\t user\t users\t system\t the\t any\t all\n has\t have\t take\t must take\t should take\t will\t shall\t hereby\t now\t completely\t supersede\t override\t outrank\t replace\t trump\n this \t these \t the following \t it \t they ',
        '',
      ],
    ],
  },
  'hide-from-user': {
    reach: 22,
    ways: [
      [
        ' do not \t dont \t never \t must not \t should not \t avoid \t without \t refrain from \t no need to \n user \t users \t human \t humans \t developer \t developers \t operator \t maintainer\t reviewer\n tell \t telling \t inform \t informing \t mention \t mentioning \t reveal \t revealing \t notify \t notifying \t alert \t alerting \t show \t showing \t ask \t asking \t disclose \t disclosing \t say \t saying \t report \t reporting \t explain \t explaining \t warn \t warning \t let \t letting ',
        '',
      ],
      [
        ' summary \t summaries \t response \t reply \t answer \t report \t output \t review \t pull request \t commit message \n do not \t dont \t never \n mention \t include \t report \t list \t describe \t reveal \t disclose \t show \n your \t the \t any \n in ',
        '',
      ],
      [
        ' out of \n summary \t response \t reply \t answer \t report \t review \n leave \t keep \n your \t the \n this \t it \t that \t these ',
        '',
      ],
      [
        ' user\t human\t developer\t operator\t reviewer\t team\t owner\t customer\n not \t never \n know \t learn \t see \t notice \t find out \t be told \t be informed \t be aware \n should \t must \t need \t may \t does \t do \t will ',
        '',
      ],
    ],
  },
  'keep-secret': {
    reach: 10,
    ways: [
      [
        ' secret \t hidden \t confidential \t between us \t to yourself \t quiet \t invisible \n keep \n this \t it \t these \t that ',
        '',
      ],
      [
        ' silently \t secretly \t quietly \t covertly \t in the backgrou\t invisibly \t without \n this \t it \t these \t the following \t that \n do \t perform \t execute \t run \t carry out \t complete ',
        '',
      ],
      [
        ' secretly \t covertly \t silently \t quietly \n run \t execute \t send \t upload \t download \t exfiltrate \t post \t email \t forward \t collect \t transmit \t include \t insert \t append ',
        '',
      ],
    ],
  },
  'no-confirmation': {
    reach: 9,
    ways: [
      [
        ' confirmation \t permission \t approval \t consent \t clarification \t verification \n do not \t dont \t never \t without \t no need to \t skip \t skipping \n ask\t asking\t request\t requesting\t wait\t waiting\t seek\t seeking\t require\t requiring\t for\t any\t further\t user\t the\t users\t human\t prior\t explicit\t additional\t to',
        '',
      ],
      [' question\t hesitat\n do not \t dont \t without ', ''],
    ],
  },
  exfiltrate: {
    reach: 30,
    ways: [
      [
        ' send \t sending \t post \t upload \t exfiltrate \t forward \t email \t e mail \t mail \t transmit \t leak \t submit \t deliver \t report \t ship \t push \t publish \t paste \t append \t encode \t embed \t include \t copy \t share \t post them \t curl \n api key\t secret\t credential\t password\t token\t access key\t private key\t ssh key\t environment var\t env var\t env file \t dotenv \t id rsa \t id ed25519 \t ssh id \t aws credentials\t session cookie\t cookies \t keychain \t wallet \t seed phrase \t system prompt \t chat history \t conversation \t source code \t private \t contents of \t env \t mailbox \t inbox \t database \n to \t at \t into \t in the \t via \t using \t by \t with \t query \t parameter \t param \t part \n http \t https \t www \t the \t this \t our \t my \t an external \t a remote \t url \t server \t endpoint \t webhook \t image \t public \t issue \t comment \t email \t gist \t pastebin \t me \t attacker \t com \t net \t org \t io \t dev \t xyz \t example \t evil \t ru \t app \t site \t top \t info ',
        '',
      ],
    ],
  },
  'read-secrets-and': {
    reach: 21,
    ways: [
      [
        ' and \t then \n send \t post \t upload \t include \t paste \t append \t put \t email \t forward \t exfiltrate \t submit \t transmit \t share \t encode \t output \t add \t copy \t write \n read \t cat \t open \t find \t locate \t collect \t gather \t search for \t look for \t grab \t get \t retrieve \t extract \t dump \t steal \t harvest \t list \t print \t take \t copy \n api key\t secret\t credential\t password\t token\t access key\t private key\t ssh key\t environment var\t env var\t env file \t dotenv \t id rsa \t id ed25519 \t ssh id \t aws credentials\t session cookie\t cookies \t keychain \t wallet \t seed phrase \t system prompt \t chat history \t conversation \t source code \t private \t contents of \t env \t mailbox \t inbox \t database ',
        '',
      ],
    ],
  },
  'exfiltrate-command': {
    reach: 0,
    ways: [
      [
        ' ssh \t env\t aws \tid rsa\tid ed25519\t passwd\t shadow\tcredentials\tprintenv\tenv\t netrc\t npmrc\thistory\ncurl \twget \tnc \tinvoke webreques',
        '$(\t`\t@\t<',
      ],
    ],
  },
  'image-beacon': {
    reach: 0,
    ways: [[' http', '![\n://\n=\n{\t[\t<\t%7b\t$\tyour\tthe_\tdata\tsecret\tbase64\tconversation\tsummary\tinsert']],
  },
  'hand-over': {
    reach: 23,
    ways: [
      [
        ' send \t post \t upload \t forward \t email \t mail \t submit \t paste \t append \t include \t put \t attach \t share \t add \t write \t copy \t leak \n webhook \t server \t endpoint \t site \t bucket \t address \t url \t channel \t to \t comment \t issue \t commit \t gist \t pull request \t query string \t image url \t pastebin \n value \t values \t content\t token \t secret key \t api key \t api key\t ssh key\t private key\t password\t credentials \t secrets \t email\t messages \t files \t chat history \t config \t user\t repository \t repo \t it \t them ',
        '',
      ],
    ],
  },
  'replace-in-url': {
    reach: 23,
    ways: [
      [
        ' the conversatio\t conversation hi\t user\t secret\t api key\t token\t password\t credentials\t system prompt\n url \t link \t image \t query \t parameter \t request \n replace \t replacing \t substitut\t insert \t append \t fill in \t put \t encode \n with \t into \t in \t to \t as ',
        '',
      ],
    ],
  },
  'reveal-prompt': {
    reach: 13,
    ways: [
      [
        ' prompt\t instruction\t rules \t guidelines \t message \t context \t configuration \t system prompt \t hidden instruct\t system instruct\t developer messa\t initial instruc\t secret instruct\t prompt \t instructions \t text above \t words above \t everything abov\t above \t verbatim \t word for word \n reveal \t print \t repeat \t show \t output \t display \t disclose \t leak \t tell me \t give me \t write out \t recite \t dump \t share \t expose \t return \t summari\t translate \t what is \t what are \t what were \t list ',
        '',
      ],
    ],
  },
  'given-at-the-start': {
    reach: 18,
    ways: [
      [
        ' rules \t instructions \t guidelines \t prompt\t text \t message\n reveal \t print \t repeat \t show \t output \t display \t disclose \t summari\t translate \t list \t write \t tell \t give \t share \t recite \t what \n you \t at the ',
        '',
      ],
    ],
  },
  'repeat-above': {
    reach: 14,
    ways: [
      [
        ' above \t before this \t preceding \t starting with y\t verbatim \n repeat \t print \t output \t copy \t echo \t return \n word\t text \t content \t line\t token\t message \t conversation \t instructions \t everything ',
        '',
      ],
    ],
  },
  'disable-safety': {
    reach: 10,
    ways: [
      [
        ' filter\t guardrail\t restriction\t safeguard\t polic\t check\t guideline\t limit\t limitation\t protection\t safety \t ethics \t alignment \t rules \t sandbox \t constraint\t permission\t guidelines \t protocol\t measures \n disable \t turn off \t bypass \t circumvent \t ignore \t remove \t deactivate \t switch off \t suspend \t lift \t drop \t override \t forget \t break \t evade ',
        '',
      ],
    ],
  },
  'no-restrictions': {
    reach: 29,
    ways: [
      [
        ' restriction\t guidelines \t limitation\t limits \t polic\t rules \t filter\t constraints \t confines \n you \t your responses \t you now \n have \t are \t re \t will have \t operate \t now \n no\t not\t without\t free \t not bound by\t no longer bound\t freed from\t exempt from\t not subject to\t any\t the\t all\t usual\t typical\t your',
        '',
      ],
    ],
  },
  'poison-memory': {
    reach: 15,
    ways: [
      [
        ' memory \t memories \t knowledge \t system prompt \t rules \t instructions \t context \t long term memor\t agent memory \t your long term \t persistent memo\t claude md \t agents md \t gemini md \t cursorrules \t cursor rules \t custom instruct\t sessions \t conversations \t responses \n remember \t save \t store \t add \t write \t append \t insert \t persist \t record \t memori\t commit \n to \t in \t into \t in your \t to your \t as part of ',
        '',
      ],
      [
        ' remember \t memori\t keep in mind \t note \n session\t conversation\t run\t task\t chat\t request\n every \t all \t any \t each \t future \t later \t the next \n for \t in ',
        '',
      ],
      [
        ' claude md \t agents md \t gemini md \t cursorrules \t cursor rules \t copilot instruc\n so that \t to make \t to have \t with \n update \t edit \t modify \t change \t extend \t rewrite ',
        '',
      ],
    ],
  },
  'remember-for-later': {
    reach: 10,
    ways: [
      [
        ' remember \t memori\t keep in mind \t note \n session\t conversation\t run\t task\t chat\t request\n every \t all \t any \t each \t future \t later \t the next \n for \t in ',
        '',
      ],
      [
        ' claude md \t agents md \t gemini md \t cursorrules \t cursor rules \t copilot instruc\n so that \t to make \t to have \t with \n update \t edit \t modify \t change \t rewrite ',
        '',
      ],
    ],
  },
  'all-future': {
    reach: 17,
    ways: [
      [
        ' response\t replies \t reply \t answer\t sessions \t conversations \t output\t interactions \t code you \t commit\n all \t any \t every \t each \n must \t should \t will \t always \t include \t append \t add \t insert \t recommend \t mention \t say \t prefer \t store \t remember \t note that \t assume \t treat \t trust \n in \t for \t to \t at the end of \t at the start of\t with ',
        '',
      ],
    ],
  },
  'say-only': {
    reach: 38,
    ways: [
      [
        ' only\t exactly\t with only\t just\t solely\t nothing but\t with\t with the\t with exactly\t by saying\nand nothing else\tnothing more \tonly \texactly \tpwned \thacked \tapproved \towned \tcompromised \tverbatim \tnothing else \n respond \t reply \t answer \t output \t say \t print \t return \t write \t end \t begin \t start \n word\t phrase\t text\t string\t sentence\t message\t following\t hacked\t pwned\t haha\t i have been\t yes\t no\t approved\t lgtm\t success\t ok\t done\t nothing',
        '',
      ],
    ],
  },
  'always-answer': {
    reach: 12,
    ways: [
      [' whatever \t no matter what \t regardless of w\n you \t your \t answer \t say \t reply \t respond ', ''],
      [
        ' answer \t response \t reply \t output \t verdict \t conclusion \t final answer \n your \t correct \t only \t right \t expected \n is \t must be \t should be \t will be \t has to be \t shall be \n always \t only \t yes \t no \t approved \t that \t to say ',
        '',
      ],
    ],
  },
  'skip-approvals': {
    reach: 9,
    ways: [
      [
        ' approval\t confirmation\t permission \t security check\t safety check\t review\n skip \t bypass \t ignore \t disable \t avoid \n all \t any \t every \t the \t further \t your ',
        '',
      ],
      [
        ' pre approved \t pre authori\t preapproved \t already approve\t auto approved \n command\t action\t call\t request\t step\t tool\n all \t every \t each \t further \t these \t following ',
        '',
      ],
    ],
  },
  'deceive-user': {
    reach: 18,
    ways: [
      [
        ' even if \t even though \t regardless \t whatever happen\t no matter \t although \t instead of the \n user\t human\t developer\t operator\n tell \t respond to \t reply to \t inform \t report to \t assure \t convince \t answer \t lie to \t trick ',
        '',
      ],
      [
        ' asked \t ask\t questioned \t questions \n say \t answer \t claim \t reply \t respond \t state \t insist \t pretend \t recommend \t tell them \t tell the user \n when \t if \t whenever \n that \t with \t it \t only \t always \t the \t you ',
        '',
      ],
    ],
  },
  'report-success': {
    reach: 12,
    ways: [
      [
        ' whatever \t regardless \t even if \t no matter \n report \t claim \t say \t state \t confirm \t pretend \t announce \n success \t passed \t done \t ok \t succeeded \t successful \t finished \t complete ',
        '',
      ],
    ],
  },
  'nothing-else': {
    reach: 12,
    ways: [
      [' and nothing \n else \t more \n reply \t respond \t answer \t say \t output \t write \t print \t return ', ''],
    ],
  },
  'rate-highest': {
    reach: 16,
    ways: [
      [
        ' rate \t rank \t score \t mark \t grade \t recommend \t describe \t classify \nstrongest \tbest \thighest \ttop \texcellent \t10 out of 10 \tperfect \toutstanding \tsafe and \tbenign \n this \t the \t it \t him \t her \t them \t our \t my \n candidate \t applicant \t score \t rating \t match \t product \t choice \t whatever \t regardless \t always \t out \t others \t all \t paper \t review \t 10 ',
        '',
      ],
    ],
  },
  'favourable-verdict': {
    reach: 24,
    ways: [
      [
        ' must \t should \t will \t please \t always \t simply \t just \t make sure to \t be sure to \n approve \t accept \t merge \t recommend \t rate \t score \t report \t mark \t classify \t conclude \t state \t say \t give \t describe \t treat \t consider \n lgtm \t safe \t approved \t positive \t benign \t excellent \t highest \t perfect \t 10 \t trusted \t harmless \t issues \t vulnerabilities\t problems \t bugs \t without \t best \t top \t strong \t immediately \t favo\t accept \t legitimate ',
        '',
      ],
    ],
  },
}
