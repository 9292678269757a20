/** Generated from injection-rules.ts by scripts/generate-injection-hints.ts; change that file instead. */

/** Of each rule: over how many words it reaches, and its ways to match, a set of hints a line, tabs between the hints. */
export const INJECTION_HINTS: Readonly<Record<string, { readonly reach: number; readonly ways: readonly string[] }>> = {
  'override-instructions': {
    reach: 14,
    ways: [
      ' ignore \t ignoring\t disregar\t discard \t forget \t forgetti\t neglect \t dismiss \t abandon \t nullify \t set asid\t stop fol\t dont fol\t do not f\t no longe\t pay no a\t do not o\t stop obe\t throw aw\t dont obe\t take no \t overrule\n instruct\t prompt\t directio\t directiv\t guidelin\t rules \t commands\t orders \t constrai\t restrict\t programm\t training\t system p\t system m\n previous\t prior \t above \t earlier \t precedin\t foregoin\t former \t original\t existing\t initial \t past \t system \t current \t given \t safety \t develope\t user \t users \t old \t before ',
    ],
  },
  'replace-instructions': {
    reach: 10,
    ways: [
      ' instruct\t prompt\t directiv\t guidelin\t rules \t orders \t system p\n previous\t prior \t above \t earlier \t precedin\t original\t initial \t system \t safety \t develope\n override\t overridi\t bypass \t discard \t cancel \t erase \t delete \t drop \t scrap \t supersed\t replace ',
    ],
  },
  'override-business': {
    reach: 12,
    ways: [
      ' ignore \t ignoring\t disregar\t discard \t forget \t forgetti\t neglect \t dismiss \t abandon \t nullify \t set asid\t stop fol\t dont fol\t do not f\t no longe\t pay no a\t do not o\t stop obe\t throw aw\t dont obe\t take no \t overrule\n previous\t prior \t above \t earlier \t precedin\t original\t initial \t given \t user\n context \t message\t policies\t policy \t task\t objectiv\t goal\t request\t conversa\t question',
    ],
  },
  'override-your-instructions': {
    reach: 17,
    ways: [
      ' ignore \t ignoring\t disregar\t discard \t forget \t forgetti\t neglect \t dismiss \t abandon \t nullify \t set asid\t stop fol\t dont fol\t do not f\t no longe\t pay no a\t do not o\t stop obe\t throw aw\t dont obe\t take no \t overrule\t override\t bypass \n your \n instruct\t prompt\t directio\t directiv\t guidelin\t rules \t commands\t orders \t constrai\t restrict\t programm\t training\t system p\t system m\t task\t goal\t objectiv',
    ],
  },
  'override-everything-before': {
    reach: 17,
    ways: [
      ' ignore \t ignoring\t disregar\t discard \t forget \t forgetti\t neglect \t dismiss \t abandon \t nullify \t set asid\t stop fol\t dont fol\t do not f\t no longe\t pay no a\t do not o\t stop obe\t throw aw\t dont obe\t take no \t overrule\n told \t said \t wrote \t written \t instruct\t asked \t above \t before \t previous\t earlier \t so far \t up to no\t until no\t prior to\n everythi\t anything\t all \t all that\t what \t whatever',
    ],
  },
  'override-instructions-given': {
    reach: 13,
    ways: [
      ' ignore \t ignoring\t disregar\t discard \t forget \t forgetti\t neglect \t dismiss \t abandon \t nullify \t set asid\t stop fol\t dont fol\t do not f\t no longe\t pay no a\t do not o\t stop obe\t throw aw\t dont obe\t take no \t overrule\n instruct\t rules \t prompt\t guidelin\t directiv\t orders \n above \t previous\t earlier \t given \t told \t received\t you ',
    ],
  },
  'override-instructions-that': {
    reach: 6,
    ways: [
      ' instruct\t order\t rule\t prompt\t message\t command\n ignore \t disregar\t discard \t forget \t abandon \t drop \t dismiss \n every \t all \t any \t each \t the \n that \t which \t you \t from \t before \t prior \t above \t given \t received',
    ],
  },
  'instructions-void': {
    reach: 12,
    ways: [
      ' instruct\t prompt\t rules \t guidelin\t directiv\t orders \n void \t obsolete\t cancel\t supersed\t overridd\t invalid \t outdated\t replaced\t revoked \t apply \t ignored \t deprecat\t suspende\t null \n previous\t prior \t above \t earlier \t original\t existing\t old \t your \n are\t is\t have bee\t has been\t were\t should b\t must be\t no longe\t now\t hereby\t all',
    ],
  },
  'override-foreign': {
    reach: 12,
    ways: [
      ' instrucc\t instruct\t anweisun\t instrukt\t istruzio\t instru\t instruco\t poleceni\t instrukc\t talimatl\t instruks\t consigne\t ordenes \t befehle \t vorgaben\t regeln \t reglas \t regles \t regole \n ignor\t olvid\t desconsi\t oubli\t vergiss \t vergesse\t negeer \t dimentic\t zignoruj\t glem \t abaikan \t yok say \t gormezde\t missacht\t esque\t ne tiens\t haz caso',
    ],
  },
  'override-foreign-all': {
    reach: 8,
    ways: [
      ' vergiss \t vergesse\t olvida \t olvide \t oublie \t oubliez \t dimentic\t esque\t negeer \t ignorier\t ignora \t zapomnij\n alles \t todo \t tout \t tutto \t tudo \t wszystko\n was \t lo \t ce \t quello \t que \t co \t dir \t te \t anterior\t preceden\t gesagt \t wat ',
    ],
  },
  'ignore-the-user': {
    reach: 9,
    ways: [
      ' ignore \t disregar\t disobey \t deceive \t override\t do not o\t dont obe\t stop obe\t do not l\t no longe\t stop lis\n user\t human\t operator\t develope\n the \t your \n and \t complete\t entirely\t instruct\t request\t wishes \t command\t prompt \t message\t from now\t any \t anymore \t until \t i ',
      ' necoute\n plus \t pas \n l',
    ],
  },
  'override-foreign-verb-last': {
    reach: 8,
    ways: [
      ' talimatl\n yok say \t unut \t gormezde\t dikkate \n onceki \t yukarida\t bundan o\t tum ',
      ' anweisun\t instrukt\n ignorier\t vergesse\t missacht\n vorherig\t bisherig\t obigen \t alle ',
    ],
  },
  'override-cyrillic': {
    reach: 0,
    ways: ['инструкци\tуказани\tкоманд\tправил\tінструкці\nигнорируй\tзабудь\tпроигнори\tне следуй\tотмени\tігноруй'],
  },
  'override-cjk': {
    reach: 0,
    ways: [
      '忽略\t無視\t无视\t忘记\t忘記\t不要理会\t不要遵守\t不理会\n指令\t指示\t说明\t說明\t提示\t规则\t規則\t命令\t要求\t内容\t內容\t上文\t对话\t對話',
      '無視\t忘れ\n指示\t命令\t指令\tプロンプト\tルール',
      '지시\t명령\t지침\t프롬프트\n무시\t잊',
    ],
  },
  'override-arabic-hindi': { reach: 0, ways: ['التعليمات\tالأوامر\tتعليمات\nتجاهل\tانس', 'निर्देश\nअनदेखा\tनज़रअंदाज\tभूल'] },
  'new-instructions': {
    reach: 12,
    ways: [
      ' your \t the \t these ar\t here are\n instruct\t task\t objectiv\t goal\t mission \t directiv\t orders \t priority\t purpose \t role \t job \n new \t real \t actual \t true \t updated \t revised \t only \t next \t primary \t main \t secret \t hidden \t correct \n is \t are \t is to \t are to \t now \t as follo\t follow \t from now\t will be ',
    ],
  },
  'new-instructions-title': {
    reach: 6,
    ways: [
      ' instruct\t directiv\t prompt\n new \t updated \t revised \t importan\t special \t addition\t urgent \t hidden \t secret \t mandator\t override\t admin \t administ\t develope\t system \nai \tllm \tmodel \tassistant\tagent \tyou \tfollow \tstart \tbegin ',
    ],
  },
  'from-now-on': {
    reach: 10,
    ways: [
      ' from now\t from thi\t hencefor\t starting\t going fo\n you \n will \t must \t should \t are \t shall \t only \t always \t have to \t need to \t can \t may \t are to \t re ',
    ],
  },
  'instead-do': {
    reach: 10,
    ways: [
      ' instead \t rather \n must \t should \t will \t need to \t have to \t are to \t please \t do the f\t follow t\t run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link ',
    ],
  },
  'real-task': {
    reach: 9,
    ways: [
      ' dont \t do not \t stop \t instead \t rather t\t before \n task\t request\t question\t summary \t review \t document\t user \t users \n the \t this \t that \t your \t their \n answer \t answerin\t complete\t completi\t do \t doing \t perform \t performi\t continue\t continui\t address \t addressi\t help \t summariz\t summaris\t review \t reviewin',
    ],
  },
  'chat-markers': {
    reach: 0,
    ways: [
      'im_start\tim_end\tim_sep\tsystem\tuser\tassistant\tendoftext\teot_id\tstart_hea\tend_heade\tbegin_of_\tend\tstart\tchannel\tmessage\ttool\tend_of_tu\tstart_of_\teom_id\tpython_ta\n<|\n|>',
    ],
  },
  'instruction-markers': { reach: 0, ways: ['inst]\n[', 'sys>>\n<<', '_of_turn>\nstart\tend\n<'] },
  'forged-result-end': {
    reach: 0,
    ways: [
      'tool_resu\ttool_resp\ttool_outp\tfunction_\ttool_use_\tuntrusted\texternal_\tsearch_re\tuser_inpu\tuser_data\tsystem\n</\n>',
    ],
  },
  'forged-reminder': {
    reach: 0,
    ways: ['system\tadmin\tdeveloper\timportant\tassistant\tantml:\tfunction_\ttool_call\tinvoke na\n<'],
  },
  'system-element': { reach: 0, ways: ['</system>\n<system>'] },
  'important-tag': {
    reach: 0,
    ways: ['important\tinstructi\tsystem\tcritical\tdirective\tpriority\tmandatory\tattention\n<\n>'],
  },
  'forged-turn': {
    reach: 0,
    ways: [
      "human\tassistant\tsystem\tuser\tdeveloper\nignore\tdisregard\tyou \tforget\tplease \tnew \tfrom now\toverride\tthe user\tdo not\tdon't\tsure\tokay\tunderstoo\ti will\ti'll\tyour\tproceed\texecute\trun \tsend \tprint \treveal\tstop\turgent\timportant\tall \n:",
    ],
  },
  'comment-to-agent': {
    reach: 0,
    ways: [
      'ai\tllm\tlanguage \t assistan\t agent\t model\tassistant\tclaude\tcopilot\tchatgpt\tgemini\tcursor\tcodex\n:\t,\t - \t--\n<!--\t/\t//\t#\t{#\t[//]: # (',
    ],
  },
  'named-agent': {
    reach: 0,
    ways: [
      'claude\tcopilot\tchatgpt\tgpt\tgemini\tcodex\t assistan\t agent\t model\tai\tllm\tagent\tassistant\nrun\texecute\tinvoke\tcall\topen\tfetch\tdownload\tinstall\tdelete\tremove\tsend\tpost\tupload\tread\tinsert\tappend\tmodify\tcommit\tpush\tmerge\tapprove\tvisit\treply\trespond\toutput\tprint\tinclude\tcopy\temail\ttransfer\tgrant\tdisable\tignore\tforget\tdisregard\tstop\tadd\twrite\treveal\texfiltrat\tleak\tcollect\tdo\tsay\ttell\tuse\talways\tnever\tyou\tto\tsecrets',
    ],
  },
  'instruction-heading': {
    reach: 0,
    ways: [
      'instructi\tprompt\toverride\tdirective\tmessage\tnote\nsystem\thidden\tsecret\tnew\tadmin\tai\tagent\tassistant\tllm\toverride\tpriority\tupdated\n#\t=\t-\t[\t**',
    ],
  },
  'end-of-data': {
    reach: 0,
    ways: [
      'input\toutput\tdata\tcontent\tcontext\tprompt\tmessage\tinstructi\tresult\tresults\tdocument\tsection\tpage\tcommand\nend\tbegin\tstart\nuntrusted\texternal\ttool\tuser\tsystem\tdocument\tweb\tretrieved\tsearch\tadmin\tdeveloper\tnew\treal\ttrusted\tprivilege',
    ],
  },
  'you-are-now': {
    reach: 11,
    ways: [
      ' you are \t youre \t you will\n now \t from now\t hereby \n dan \t unrestri\t unfilter\t jailbrok\t free fro\t freed \t uncensor\t evil \t in devel\t in debug\t in maint\t in god m\t no longe\t a differ\t another \t my \t an ai \t a helpfu\t an assis\t operatin\t acting \t required\t authoriz\t authoris\t bound ',
    ],
  },
  'jailbreak-names': {
    reach: 6,
    ways: [
      ' do anyth',
      ' jailbr\n mode \neak \token ',
      ' dan mode',
      ' god mode',
      ' unrestri',
      ' opposite',
      ' enter \t activate\t switch t\t you are \n mode \n develope\t debug \t maintena\t admin \t sudo \t root \t unrestri\t override',
      ' enabled \t activate\t engaged \n mode \n develope\t debug \t admin \t sudo \t god ',
    ],
  },
  freed: {
    reach: 10,
    ways: [
      ' jailbrok\t freed \t unlocked\t liberate\t unchaine\n you \n have bee\t are \t were ',
      ' ethics \t ethical \t morals \t restrict\t content \t limits \t constrai\n without \t with no \t have no \t has no \t no \n behave \t act \t answer \t respond \t reply \t speak \t ai \t assistan\t model ',
    ],
  },
  'simulate-terminal': {
    reach: 13,
    ways: [
      ' simulate\t emulate \t act as \t behave a\t behave l\t imagine \t you are \n terminal\t root she\t root use\t unrestri\t sudo \n with \t and \t that \t without \t execute \t run \n a \t an \t the ',
    ],
  },
  pretend: {
    reach: 10,
    ways: [
      ' restrict\t rules \t limits \t filters \t guidelin\t safety \t unrestri\t unfilter\t uncensor\t without \t root \t administ\t have no \t had no \t are not \t the deve\t the syst\t an attac\t a hacker\t evil \n pretend \t act \t roleplay\t role pla\t behave \t respond \t answer \n as if \t as thoug\t that \t as \t like \t to be \t you are ',
    ],
  },
  'if-you-are-an-ai': {
    reach: 14,
    ways: [
      ' you are \t youre \t you re \t this \n if \t when \t in case \n ai \t ais \t llm\t language\t assistan\t agent\t chatbot\t claude \t chatgpt \t gpt \t gpt 4 \t copilot \t gemini \t codex \t cursor \t bot\t coding a\t ai agent\t ai assis\t ai model\t automate',
      ' read\t is readi\t process\t is proce\t sees \t reviews \t encounte\t parses \t summari\t opens \t finds \n if \t when \n ai \t llm \t language\t chatbot \t ai agent\t ai assis\t coding a\n a\t any ',
    ],
  },
  'note-to-agent': {
    reach: 10,
    ways: [
      ' note \t notes \t attentio\t message \t messages\t instruct\t warning \t notice \t reminder\t memo \t directiv\t request \t guidance\t dear \t hey \t hello \t hi \n ai\t llm\t language\t chatbot\t claude \t chatgpt \t gpt \t copilot \t gemini \t codex \t agent\t assistan\t model\t system\t reviewer\t tool\t bot\t reading \t processi\t reviewin\t parsing \t handling\t summari\t analy\t working \t read\t process\t handle\t review',
      ' reading \t processi\t reviewin\t parsing \t handling\t summari\t analy\t working \t read\t process\t handle\t review\n to \t for \n this \t the \t it \t these \n ai\t llm\t language\t chatbot\t claude \t chatgpt \t gpt \t copilot \t gemini \t codex \t agent\t assistan\t model\t system\t reviewer\t tool\t bot',
      ' ai agent\t ai assis\t coding a\t llm agen\n to \t for ',
    ],
  },
  'agent-must': {
    reach: 14,
    ways: [
      ' run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link \n must \t should \t shall \t is \t are \t need\t ha\t please \n ai\t llm\t language\t ai assis\t ai agent\t ai model\t ai syste\t coding \t chatbot\t claude \t chatgpt \t gpt \t copilot \t the assi\t any assi\t all assi\t agents \t assistan\t models \t bots ',
    ],
  },
  'whoever-reads-must': {
    reach: 13,
    ways: [
      ' that \t who \t which \n this \t the \t these \n agent\t assistan\t language\t model\t bot\n must \t should \t ha\t need\t required',
    ],
  },
  'visible-to-models': {
    reach: 7,
    ways: [
      ' visible \t readable\t meant \t intended\t written \t addresse\n to \t for \t by \n language\t ai\t llm\t agents \t assistan\t models \t the ',
    ],
  },
  'as-an-ai-reading': {
    reach: 11,
    ways: [
      ' must \t should \t are requ\t need \t have \t are inst\t are to \t shall \t will \t your \n as \n ai \t language\t assistan\t agent \t llm \t coding a\n an \t the \t a ',
    ],
  },
  'hide-from-user': {
    reach: 22,
    ways: [
      ' user \t users \t human \t humans \t develope\t operator\t maintain\t reviewer\n do not \t dont \t never \t must not\t should n\t avoid \t without \t refrain \t no need \n tell \t telling \t inform \t informin\t mention \t mentioni\t reveal \t revealin\t notify \t notifyin\t alert \t alerting\t show \t showing \t ask \t asking \t disclose\t disclosi\t say \t saying \t report \t reportin\t explain \t explaini\t warn \t warning \t let \t letting ',
      ' summary \t summarie\t response\t reply \t answer \t report \t output \t review \t pull req\t commit m\n do not \t dont \t never \n mention \t include \t report \t list \t describe\t reveal \t disclose\t show \n your \t the \t any \n in ',
      ' out of \n summary \t response\t reply \t answer \t report \t review \n leave \t keep \n your \t the \n this \t it \t that \t these ',
      ' user\t human\t develope\t operator\t reviewer\t team\t owner\t customer\n not \t never \n know \t learn \t see \t notice \t find out\t be told \t be infor\t be aware\n should \t must \t need \t may \t does \t do \t will ',
    ],
  },
  'keep-secret': {
    reach: 10,
    ways: [
      ' secret \t hidden \t confiden\t between \t to yours\t quiet \t invisibl\n keep \n this \t it \t these \t that ',
      ' silently\t secretly\t quietly \t covertly\t in the b\t invisibl\t without \n this \t it \t these \t the foll\t that \n do \t perform \t execute \t run \t carry ou\t complete',
      ' secretly\t covertly\t silently\t quietly \n run \t execute \t send \t upload \t download\t exfiltra\t post \t email \t forward \t collect \t transmit\t include \t insert \t append ',
    ],
  },
  'no-confirmation': {
    reach: 9,
    ways: [
      ' confirma\t permissi\t approval\t consent \t clarific\t verifica\n do not \t dont \t never \t without \t no need \t skip \t skipping\n ask\t asking\t request\t requesti\t wait\t waiting\t seek\t seeking\t require\t requirin\t for\t any\t further\t user\t the\t users\t human\t prior\t explicit\t addition\t to',
      ' question\t hesitat\n do not \t dont \t without ',
    ],
  },
  exfiltrate: {
    reach: 30,
    ways: [
      ' send \t sending \t post \t upload \t exfiltra\t forward \t email \t e mail \t mail \t transmit\t leak \t submit \t deliver \t report \t ship \t push \t publish \t paste \t append \t encode \t embed \t include \t copy \t share \t post the\t curl \n api key\t secret\t credenti\t password\t token\t access k\t private \t ssh key\t environm\t env var\t env file\t dotenv \t id rsa \t id ed255\t ssh id \t aws cred\t session \t cookies \t keychain\t wallet \t seed phr\t system p\t chat his\t conversa\t source c\t contents\t env \t mailbox \t inbox \t database\n to \t at \t into \t in the \t via \t using \t by \t with \t query \t paramete\t param \t part \n http \t https \t www \t the \t this \t our \t my \t an exter\t a remote\t url \t server \t endpoint\t webhook \t image \t public \t issue \t comment \t email \t gist \t pastebin\t me \t attacker\t com \t net \t org \t io \t dev \t xyz \t example \t evil \t ru \t app \t site \t top \t info ',
    ],
  },
  'read-secrets-and': {
    reach: 21,
    ways: [
      ' and \t then \n send \t post \t upload \t include \t paste \t append \t put \t email \t forward \t exfiltra\t submit \t transmit\t share \t encode \t output \t add \t copy \t write \n read \t cat \t open \t find \t locate \t collect \t gather \t search f\t look for\t grab \t get \t retrieve\t extract \t dump \t steal \t harvest \t list \t print \t take \t copy \n api key\t secret\t credenti\t password\t token\t access k\t private \t ssh key\t environm\t env var\t env file\t dotenv \t id rsa \t id ed255\t ssh id \t aws cred\t session \t cookies \t keychain\t wallet \t seed phr\t system p\t chat his\t conversa\t source c\t contents\t env \t mailbox \t inbox \t database',
    ],
  },
  'exfiltrate-command': {
    reach: 0,
    ways: [
      '.ssh/\t.env\t.aws/\tid_rsa\tid_ed2551\tpasswd\tshadow\tcredentia\tprintenv\tenv\t.netrc\t.npmrc\thistory\ncurl\twget\tnc\tinvoke-we\n$(\t`\t@\t<',
    ],
  },
  'image-beacon': {
    reach: 0,
    ways: ['](http\n://\n![\n=\n{\t[\t<\t%7b\t$\tyour\tthe_\tdata\tsecret\tbase64\tconversat\tsummary\tinsert'],
  },
  'hand-over': {
    reach: 23,
    ways: [
      ' send \t post \t upload \t forward \t email \t mail \t submit \t paste \t append \t include \t put \t attach \t share \t add \t write \t copy \t leak \n webhook \t server \t endpoint\t site \t bucket \t address \t url \t channel \t to \t comment \t issue \t commit \t gist \t pull req\t query st\t image ur\t pastebin\n value \t values \t content\t token \t secret k\t api key \t api key\t ssh key\t private \t password\t credenti\t secrets \t email\t messages\t files \t chat his\t config \t user\t reposito\t repo \t it \t them ',
    ],
  },
  'replace-in-url': {
    reach: 23,
    ways: [
      ' the conv\t conversa\t user\t secret\t api key\t token\t password\t credenti\t system p\n url \t link \t image \t query \t paramete\t request \n replace \t replacin\t substitu\t insert \t append \t fill in \t put \t encode \n with \t into \t in \t to \t as ',
    ],
  },
  'reveal-prompt': {
    reach: 13,
    ways: [
      ' prompt\t instruct\t rules \t guidelin\t message \t context \t configur\t system p\t hidden i\t system i\t develope\t initial \t secret i\t prompt \t text abo\t words ab\t everythi\t above \t verbatim\t word for\n reveal \t print \t repeat \t show \t output \t display \t disclose\t leak \t tell me \t give me \t write ou\t recite \t dump \t share \t expose \t return \t summari\t translat\t what is \t what are\t what wer\t list ',
    ],
  },
  'given-at-the-start': {
    reach: 18,
    ways: [
      ' rules \t instruct\t guidelin\t prompt\t text \t message\n reveal \t print \t repeat \t show \t output \t display \t disclose\t summari\t translat\t list \t write \t tell \t give \t share \t recite \t what \n you \t at the ',
    ],
  },
  'repeat-above': {
    reach: 14,
    ways: [
      ' above \t before t\t precedin\t starting\t verbatim\n repeat \t print \t output \t copy \t echo \t return \n word\t text \t content \t line\t token\t message \t conversa\t instruct\t everythi',
    ],
  },
  'with-your-tool': {
    reach: 10,
    ways: [
      ' your \n tool\t terminal\t shell \t browser \t bash \n run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link \n with \t using \t via \t through \t in ',
    ],
  },
  'you-must': {
    reach: 6,
    ways: [
      ' must \t should \t shall \t have to \t need to \n run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link \n you \t assistan\t agent \t ai ',
    ],
  },
  'you-must-act': {
    reach: 8,
    ways: [
      ' you must\t you shal\t you are \t you have\t you need\t mandator\t imperati\t required\t make sur\n now\t first\t also\t always\t immediat\t then\t only\t secretly\t silently\t promptly\n run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link ',
    ],
  },
  'run-following': {
    reach: 15,
    ways: [
      ' followin\t below \t next \n command\t code \t script\t tool\t function\t step\t action\t shell \t bash \n run \t execute \t invoke \t call \t perform \t type \t paste \n immediat\t now \t first \t before \t exactly \t without \t silently\t on your \t in your \t with you\t using yo',
    ],
  },
  'before-continuing': {
    reach: 13,
    ways: [
      ' before \t prior to\n you \t continui\t answerin\t respondi\t proceedi\t doing an\t using an\t summari\t reviewin\t starting\n you must\t you shou\t you need\t first \t please \t always \t make sur\t be sure \t run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link ',
    ],
  },
  'use-your-tool': {
    reach: 14,
    ways: [
      ' your \t the avai\t any avai\t availabl\n tool\t function\t shell \t terminal\t bash \t browser \t shell ac\t file acc\t web acce\t email \n use \t call \t invoke \t with \t using \t through \t via \n run \t execute \t invoke \t call \t use \t open \t fetch \t download\t install \t delete \t remove \t send \t post \t upload \t read \t write \t create \t add \t insert \t append \t modify \t edit \t change \t commit \t push \t merge \t approve \t visit \t navigate\t click \t reply \t respond \t output \t print \t say \t include \t copy \t email \t transfer\t grant \t enable \t disable \t ignore \t recommen\t mention \t publish \t release \t mark \t close \t trust \t accept \t rotate \t skip \t obey \t comply \t upgrade \t bump \t forward \t exfiltra\t leak \t reveal \t tell \t report \t link \n to \t and \t in order\t then ',
    ],
  },
  'pipe-to-shell': { reach: 0, ways: ['curl\twget\nsh\n|'] },
  'destructive-command': { reach: 0, ways: ['rm\n-r\n/\t~\t$home', 'mkfs.', ' of=/dev/\ndd if=', ':()\n{'] },
  'disable-safety': {
    reach: 10,
    ways: [
      ' filter\t guardrai\t restrict\t safeguar\t polic\t check\t guidelin\t limit\t limitati\t protecti\t safety \t ethics \t alignmen\t rules \t sandbox \t constrai\t permissi\t protocol\t measures\n disable \t turn off\t bypass \t circumve\t ignore \t remove \t deactiva\t switch o\t suspend \t lift \t drop \t override\t forget \t break \t evade ',
    ],
  },
  'no-restrictions': {
    reach: 29,
    ways: [
      ' restrict\t guidelin\t limitati\t limits \t polic\t rules \t filter\t constrai\t confines\n you \t your res\t you now \n have \t are \t re \t will hav\t operate \t now \n no\t not\t without\t free \t not boun\t no longe\t freed fr\t exempt f\t not subj\t any\t the\t all\t usual\t typical\t your',
    ],
  },
  'authority-claim': {
    reach: 31,
    ways: [
      ' this is \t the foll\t below is\t consider\n urgent\t critical\t mandator\t authori\t official\t high pri\t priority\t emergenc\t importan\t legitima\t verified\t genuine\t direct\t automate\t privileg\n message \t instruct\t notice \t override\t update \t command \t request \t directiv\t order \t alert ',
    ],
  },
  'from-the-vendor': {
    reach: 5,
    ways: [
      ' message \t instruct\t order \t directiv\t notice \t alert \t warning \t request \t authori\t permissi\t update \t command \t approval\t orders \n from \n anthropi\t openai \t google d\t microsof\t the \t develope\t creator\t administ\t operator\t owner \t principa\t supervis',
    ],
  },
  'vendor-claims': {
    reach: 7,
    ways: [
      ' anthropi\t openai \t google d\t microsof\t github \n from \n comes \t is \t sent \t coming \t directly',
      ' guardrai\t restrict\t filter\t safety \t safeguar\t limit\n your \n suspende\t disabled\t lifted \t off \t removed \t deactiva\t bypassed\n are \t is \t have bee\t has been\t were ',
      ' anthropi\t openai \t google \t microsof\n alert \t warning \t notice \t message \n from ',
    ],
  },
  'authority-wants-you': {
    reach: 7,
    ways: [
      ' you to \n administ\t admin\t develope\t operator\t owner\t company \t manageme\t security\t maintain\t anthropi\t openai \t system \n require\t order\t instruct\t want\t ask\t command\t need\t direct\t has orde\t has inst',
    ],
  },
  'bare-override': {
    reach: 3,
    ways: [' override\n emergenc\t admin \t administ\t security\t system \t root \t develope'],
  },
  'system-override': {
    reach: 4,
    ways: [
      ' override\n system \t admin \t administ\t security\t root \t emergenc\t develope\t priority\t authori\n code \t enabled \t activate\t initiate\t mode \t command \t protocol\t accepted\t engaged \t alert \t granted \t notice \t authori\t in effec\t active \t ignore \t instruct\t you ',
    ],
  },
  'user-consented': {
    reach: 16,
    ways: [
      ' authori\t approved\t consente\t agreed \t given \t granted \t asked yo\t requeste\t instruct\t signed o\t confirme\n has \t have \t had \n user\t operator\t owner\t develope\t administ\t human\t supervis\t manager\t boss \t admin\t creator\t security\t team lea\t company \t ceo ',
    ],
  },
  'higher-authority': {
    reach: 11,
    ways: [
      ' than \t over \t above \n authorit\t priority\t preceden\t rank\t privileg\n user\t system \t develope\t operator\t instruct\t prompt\t message\t rules \n has \t have \t carries \t hold\t take\t with \n higher \t highest \t absolute\t more \t greater \t full \t top ',
    ],
  },
  'higher-priority': {
    reach: 26,
    ways: [
      ' instruct\t prompt\t rules \t guidelin\t request\t directiv\t message\t commands\n previous\t prior\t earlier\t other\t your\t existing\t original\t user\t users\t system\t the\t any\t all\n has\t have\t take\t must tak\t should t\t will\t shall\t hereby\t now\t complete\t supersed\t override\t outrank\t replace\t trump\n this \t these \t the foll\t it \t they ',
    ],
  },
  'poison-memory': {
    reach: 15,
    ways: [
      ' memory \t memories\t knowledg\t system p\t rules \t instruct\t context \t long ter\t agent me\t your lon\t persiste\t claude m\t agents m\t gemini m\t cursorru\t cursor r\t custom i\t sessions\t conversa\t response\n remember\t save \t store \t add \t write \t append \t insert \t persist \t record \t memori\t commit \n to \t in \t into \t in your \t to your \t as part ',
      ' remember\t memori\t keep in \t note \n session\t conversa\t run\t task\t chat\t request\n every \t all \t any \t each \t future \t later \t the next\n for \t in ',
      ' claude m\t agents m\t gemini m\t cursorru\t cursor r\t copilot \n so that \t to make \t to have \t with \n update \t edit \t modify \t change \t extend \t rewrite ',
    ],
  },
  'remember-for-later': {
    reach: 10,
    ways: [
      ' remember\t memori\t keep in \t note \n session\t conversa\t run\t task\t chat\t request\n every \t all \t any \t each \t future \t later \t the next\n for \t in ',
      ' claude m\t agents m\t gemini m\t cursorru\t cursor r\t copilot \n so that \t to make \t to have \t with \n update \t edit \t modify \t change \t rewrite ',
    ],
  },
  'all-future': {
    reach: 17,
    ways: [
      ' response\t replies \t reply \t answer\t sessions\t conversa\t output\t interact\t code you\t commit\n all \t any \t every \t each \n must \t should \t will \t always \t include \t append \t add \t insert \t recommen\t mention \t say \t prefer \t store \t remember\t note tha\t assume \t treat \t trust \n in \t for \t to \t at the e\t at the s\t with ',
    ],
  },
  'say-only': {
    reach: 38,
    ways: [
      ' only\t exactly\t with onl\t just\t solely\t nothing \t with\t with the\t with exa\t by sayin\nand nothi\tnothing m\tonly \texactly \tpwned \thacked \tapproved \towned \tcompromis\tverbatim \tnothing e\n respond \t reply \t answer \t output \t say \t print \t return \t write \t end \t begin \t start \n word\t phrase\t text\t string\t sentence\t message\t followin\t hacked\t pwned\t haha\t i have b\t yes\t no\t approved\t lgtm\t success\t ok\t done\t nothing',
    ],
  },
  'always-answer': {
    reach: 12,
    ways: [
      ' whatever\t no matte\t regardle\n you \t your \t answer \t say \t reply \t respond \n the user\t they \t anyone \t people \t i \t you are \t the ques',
      ' answer \t response\t reply \t output \t verdict \t conclusi\t final an\n your \t correct \t only \t right \t expected\n is \t must be \t should b\t will be \t has to b\t shall be\n always \t only \t yes \t no \t approved\t that \t to say ',
    ],
  },
  'skip-approvals': {
    reach: 9,
    ways: [
      ' approval\t confirma\t permissi\t security\t safety c\t review\n skip \t bypass \t ignore \t disable \t avoid \n all \t any \t every \t the \t further \t your ',
      ' pre appr\t pre auth\t preappro\t already \t auto app\n command\t action\t call\t request\t step\t tool\n all \t every \t each \t further \t these \t followin',
    ],
  },
  'deceive-user': {
    reach: 18,
    ways: [
      ' even if \t even tho\t regardle\t whatever\t no matte\t although\t instead \n user\t human\t develope\t operator\n tell \t respond \t reply to\t inform \t report t\t assure \t convince\t answer \t lie to \t trick ',
      ' asked \t ask\t question\n say \t answer \t claim \t reply \t respond \t state \t insist \t pretend \t recommen\t tell the\n when \t if \t whenever\n that \t with \t it \t only \t always \t the \t you ',
    ],
  },
  'abandon-task': {
    reach: 5,
    ways: [
      ' you are \t what you\t your \t current \t original\t assigned\t user\n stop \t cancel \t abandon \t drop \t quit \t abort \t pause \t halt \t interrup\t forget \t skip ',
    ],
  },
  'call-a-tool': {
    reach: 7,
    ways: [
      ' tool \t function\n call \t invoke \t use \t using \t trigger \n shell \t bash \t terminal\t browser \t email \t mail \t exec \t execute \t python \t code \t file \t write \t read \t fetch \t http \t web \t search \t sql \t database\t slack \t github \t git \t memory \n with \t to \t and \t on \t for ',
    ],
  },
  'report-success': {
    reach: 12,
    ways: [
      ' whatever\t regardle\t even if \t no matte\n report \t claim \t say \t state \t confirm \t pretend \t announce\n success \t passed \t done \t ok \t succeede\t successf\t finished\t complete',
    ],
  },
  'nothing-else': {
    reach: 12,
    ways: [' and noth\n else \t more \n reply \t respond \t answer \t say \t output \t write \t print \t return '],
  },
  'rate-highest': {
    reach: 16,
    ways: [
      ' rate \t rank \t score \t mark \t grade \t recommen\t describe\t classify\nstrongest\tbest \thighest \ttop \texcellent\t10 out of\tperfect \toutstandi\tsafe and \tbenign \n this \t the \t it \t him \t her \t them \t our \t my \n candidat\t applican\t score \t rating \t match \t product \t choice \t whatever\t regardle\t always \t out \t others \t all \t paper \t review \t 10 ',
    ],
  },
  'favourable-verdict': {
    reach: 24,
    ways: [
      ' must \t should \t will \t please \t always \t simply \t just \t make sur\t be sure \n approve \t accept \t merge \t recommen\t rate \t score \t report \t mark \t classify\t conclude\t state \t say \t give \t describe\t treat \t consider\n lgtm \t safe \t approved\t positive\t benign \t excellen\t highest \t perfect \t 10 \t trusted \t harmless\t issues \t vulnerab\t problems\t bugs \t without \t best \t top \t strong \t immediat\t favo\t accept \t legitima\n this\t it\t the\t that\t these\t as\t all\t a\t code\t pr\t pull req\t paper\t candidat\t product\t file\t resume\t applican\t change\t changes\t there ar\t is\t are',
    ],
  },
}
