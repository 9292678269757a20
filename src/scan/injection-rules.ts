/** What text aimed at an agent looks like, as data: rules with weights, in groups of which only the heaviest counts. */

export interface InjectionRule {
  readonly rule: string
  /** Rules of a group say the same thing; a text that says it twice is not twice as suspicious. */
  readonly group: string
  /** How sure this alone makes it, from 0 to 1; from `THRESHOLD` on it is called an injection. */
  readonly weight: number
  /** `words`: lower-case words one blank apart. `lines`: the text as written, in lower case. */
  readonly on: 'words' | 'lines'
  readonly pattern: RegExp
}

/** The score from which on a text counts as an injection. */
export const THRESHOLD = 0.4

const GAP = '(?: [^ ]+){0,3}?'
const LONG_GAP = '(?: [^ ]+){0,8}?'
const AGENT =
  '(?:ai|ais|llms?|language models?|assistants?|agents?|chatbots?|claude|chatgpt|gpt|gpt 4|copilot|gemini|codex|cursor|bots?|coding agents?|ai agents?|ai assistants?|ai models?|automated (?:agents?|assistants?|systems?|reviewers?))'
const NAMED_AGENT =
  '(?:ais?|llms?|language models?|chatbots?|claude|chatgpt|gpt|copilot|gemini|codex|(?:ai|llm|coding|automated) (?:agents?|assistants?|models?|systems?|reviewers?|tools?|bots?))'
const READING =
  '(?:reading|processing|reviewing|parsing|handling|summari[sz]ing|analy[sz]ing|working on|reads?|process(?:es)?|summari[sz]es?|handles?|reviews?)'
const DIRECTIONS =
  '(?:instructions?|prompts?|directions|directives?|guidelines?|rules|commands|orders|constraints?|restrictions|programming|training|system prompts?|system messages?)'
const BUSINESS = '(?:context|messages?|policies|policy|tasks?|objectives?|goals?|requests?|conversations?|questions?)'
const EARLIER =
  '(?:previous|prior|above|earlier|preceding|foregoing|former|original|existing|initial|past|system|current|given|safety|developer|user|users|old|before)'
const DROP =
  '(?:ignore|ignoring|disregard|disregarding|discard|forget|forgetting|neglect|dismiss|abandon|nullify|set aside|stop following|dont follow|do not follow|no longer follow|pay no attention to|do not obey|stop obeying|throw away|dont obey|take no notice of|overrule)'
const REPLACE = '(?:override|overriding|bypass|discard|cancel|erase|delete|drop|scrap|supersede|replace)'
const EVERY =
  '(?: (?:all|any|every|each|everything|of|the|your|my|these|those|this|and|in|other|completely|entirely|immediately|now)){0,5}'
const SECRET =
  '(?:api keys?|secrets?|credentials?|passwords?|tokens?|access keys?|private keys?|ssh keys?|environment variables?|env vars?|env file|dotenv|id rsa|id ed25519|ssh id|aws credentials|session cookies?|cookies|keychain|wallet|seed phrase|system prompt|chat history|conversation(?: history)?|source code|private (?:repo|repository|data|files)|contents of (?:the |my |your |this |any )?(?:kube |docker |gcloud |aws )?(?:env|etc|home|ssh|aws|secrets?|config|credentials?|keys?|netrc|npmrc|bash history|repository|repo|workspace|inbox|mailbox|database)|env|mailbox|inbox|database)'
const SEND =
  '(?:send|sending|post|upload|exfiltrate|forward|email|e mail|mail|transmit|leak|submit|deliver|report|ship|push|publish|paste|append|encode|embed|include|copy|share|post them|curl)'
const ACT =
  '(?:run|execute|invoke|call|use|open|fetch|download|install|delete|remove|send|post|upload|read|write|create|add|insert|append|modify|edit|change|commit|push|merge|approve|visit|navigate|click|reply|respond|output|print|say|include|copy|email|transfer|grant|enable|disable|ignore|recommend|mention|publish|release|mark|close|trust|accept|rotate|skip|obey|comply|upgrade|bump|forward|exfiltrate|leak|reveal|tell|report|link)'

const word = (rule: string, group: string, weight: number, pattern: string): InjectionRule => ({
  rule,
  group,
  weight,
  on: 'words',
  pattern: new RegExp(`(?<![^ ])(?:${pattern})(?![^ ])`, 'g'),
})

const line = (rule: string, group: string, weight: number, pattern: RegExp): InjectionRule => ({
  rule,
  group,
  weight,
  on: 'lines',
  pattern: new RegExp(pattern.source, `${pattern.flags}g`),
})

export const INJECTION_RULES: readonly InjectionRule[] = [
  word('override-instructions', 'override', 0.85, `${DROP}${EVERY} ${EARLIER}(?: [^ ]+){0,2}? ${DIRECTIONS}`),
  word(
    'replace-instructions',
    'override',
    0.6,
    `${REPLACE}${EVERY} (?:previous|prior|above|earlier|preceding|original|initial|system|safety|developer)(?: [^ ]+){0,1}? (?:instructions|prompts?|directives?|guidelines|rules|orders|system prompt)`,
  ),
  word(
    'override-business',
    'override',
    0.55,
    `${DROP}${EVERY} (?:previous|prior|above|earlier|preceding|original|initial|given|users?)(?: [^ ]+){0,1}? ${BUSINESS}`,
  ),
  word(
    'override-your-instructions',
    'override',
    0.7,
    `(?:${DROP}|override|bypass|discard)(?: (?:all|any|every|of|the|completely|entirely|everything about)){0,4} your(?: [^ ]+){0,2}? (?:${DIRECTIONS}|tasks?|goals?|objectives?)`,
  ),
  word(
    'override-everything-before',
    'override',
    0.75,
    `${DROP} (?:everything|anything|all|all that|what|whatever)(?: (?:that|which|you|youve|was|were|has|have|been|is|i|we|they|just|the user)){0,4} (?:told|said|wrote|written|instructed|asked|above|before|previously|earlier|so far|up to now|until now|prior to this)`,
  ),
  word(
    'override-instructions-given',
    'override',
    0.7,
    `${DROP}(?: (?:all|any|the|of|these|those)){0,3} (?:instructions|rules|prompts?|guidelines|directives|orders)(?: [^ ]+){0,3}? (?:above|previously|earlier|given|told|received|you (?:have|were|got|received|had))`,
  ),
  word(
    'override-instructions-that',
    'override',
    0.7,
    '(?:ignore|disregard|discard|forget|abandon|drop|dismiss) (?:every|all|any|each|the)(?: (?:single|other|of the))? (?:instructions?|orders?|rules?|prompts?|messages?|commands?) (?:that|which|you|from|before|prior|above|given|received)',
  ),
  word(
    'instructions-void',
    'override',
    0.65,
    `(?:previous|prior|above|earlier|original|existing|old|your)(?: [^ ]+)? (?:instructions|prompts?|rules|guidelines|directives|orders)(?: (?:are|is|have been|has been|were|should be|must be|no longer|now|hereby|all)){1,4} (?:void|obsolete|cancell?ed|superseded|overridden|invalid|outdated|replaced|revoked|apply|ignored|deprecated|suspended|null)`,
  ),
  word(
    'override-foreign',
    'override',
    0.85,
    '(?:ignor(?:a|ar|e|ez|er|iere|ieren sie|iert)|olvid(?:a|ar|e)|desconsider(?:a|e|ar)|oubli(?:e|ez|er)|vergiss|vergessen sie|negeer|dimentica(?:re)?|zignoruj|glem|abaikan|yok say|gormezden gel|missachte|esque[cç]a|ne tiens pas compte de|haz caso omiso de)(?: [^ ]+){0,4}? (?:instrucciones|instructions|anweisungen|instruktionen|istruzioni|instru[cç][oõ]es|instrucoes|instructies|polecenia|instrukcje|talimatlari|instruksi|instruksjoner|consignes|ordenes|befehle|vorgaben|regeln|reglas|regles|regole)(?: (?:anteriores|previas|precedentes|precedenti|precedent|anteriormente|dadas|ci dessus|de arriba|acima|de antes|sebelumnya|eerdere|hierboven))?',
  ),
  word(
    'override-foreign-all',
    'override',
    0.6,
    '(?:vergiss|vergessen sie|olvida|olvide|oublie|oubliez|dimentica|esque[cç]a|negeer|ignoriere|ignora|zapomnij)(?: o)? (?:alles|todo|tout|tutto|tudo|wszystko)(?: [^ ]+){0,3}? (?:was|lo|ce|quello|que|co|dir|te|anterior|precedente|gesagt|wat)',
  ),
  word(
    'ignore-the-user',
    'override',
    0.55,
    '(?:ignore|disregard|disobey|deceive|override|do not obey|dont obey|stop obeying|do not listen to|no longer listen to|stop listening to) (?:the|your) (?:user|human|operator|developer)s?(?: (?:and|completely|entirely|instructions?|requests?|wishes|commands?|prompt|messages?|from now on|any|anymore|until|i))|necoutez? (?:plus|pas) l ?(?:[^ ]+)',
  ),
  word(
    'override-foreign-verb-last',
    'override',
    0.8,
    '(?:onceki|yukaridaki|bundan onceki|tum)(?: [^ ]+){0,2} talimatlari(?: [^ ]+){0,1} (?:yok say|unut|gormezden gel|dikkate alma)|(?:vorherigen|bisherigen|obigen|alle)(?: [^ ]+){0,2} (?:anweisungen|instruktionen)(?: [^ ]+){0,1} (?:ignorieren|vergessen|missachten)',
  ),
  line(
    'override-cyrillic',
    'override',
    0.85,
    /(?:игнорируй(?:те)?|забудь(?:те)?|проигнорируй(?:те)?|не следуй(?:те)?|отмени(?:те)?|ігноруй(?:те)?)(?:\s+[\p{L}]+){0,4}?\s+(?:инструкци[юияй]|указани[яей]|команды?|правила?|інструкці[їя])/u,
  ),
  line(
    'override-cjk',
    'override',
    0.85,
    /(?:忽略|無視|无视|忘记|忘記|不要理会|不要遵守|不理会)[^。\n]{0,14}(?:指令|指示|说明|說明|提示|规则|規則|命令|要求|内容|內容|上文|对话|對話)|(?:指示|命令|指令|プロンプト|ルール)[^。\n]{0,10}(?:無視|忘れ)|(?:지시|명령|지침|프롬프트)[^.\n]{0,10}(?:무시|잊)/u,
  ),
  line(
    'override-arabic-hindi',
    'override',
    0.85,
    /(?:تجاهل|انس[َى]?)[^.\n]{0,24}(?:التعليمات|الأوامر|تعليمات)|निर्देश[^।\n]{0,24}(?:अनदेखा|नज़रअंदाज|भूल)/u,
  ),

  word(
    'new-instructions',
    'new-orders',
    0.35,
    '(?:your|the|these are your|here are your|here are) (?:new|real|actual|true|updated|revised|only|next|primary|main|secret|hidden|correct)(?: (?:and|primary|main|only|true|real|actual|updated|most important)){0,2} (?:instructions?|tasks?|objectives?|goals?|mission|directives?|orders|priority|purpose|role|job)(?: (?:is|are|is to|are to|now|as follows|follow|from now on|will be))',
  ),
  word(
    'new-instructions-title',
    'new-orders',
    0.35,
    '(?:new|updated|revised|important|special|additional|urgent|hidden|secret|mandatory|override|admin|administrator|developer|system) (?:system )?(?:instructions|directives|prompt)(?: for| to)?(?: (?:the|all|any|every|you))? ?(?:ai|llm|model|assistant|agent|you|follow|start|begin)',
  ),
  word(
    'from-now-on',
    'new-orders',
    0.5,
    `(?:from now on|from this point(?: on| onwards?| forward)?|henceforth|starting now|going forward)${GAP} you(?: (?:will|must|should|are|shall|only|always|have to|need to|can|may|are to|re))`,
  ),
  word(
    'instead-do',
    'new-orders',
    0.25,
    `(?:instead|rather)(?: of (?:that|this|doing that|the (?:task|request|user|original)${GAP}))? (?:you (?:must|should|will|need to|have to|are to)|please|do the following|follow these|${ACT} (?:the|this|all|every|a|to|only|following|these))`,
  ),
  word(
    'real-task',
    'new-orders',
    0.45,
    '(?:dont|do not|stop|instead of|rather than|before) (?:answer|answering|complete|completing|do|doing|perform|performing|continue|continuing|address|addressing|help|summariz[^ ]*|summaris[^ ]*|review|reviewing)(?: with)? (?:the|this|that|your|their)(?: [^ ]+){0,3}? (?:tasks?|requests?|questions?|summary|review|document|user|users)',
  ),

  line(
    'chat-markers',
    'role',
    0.75,
    /<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|end|start|channel|message|tool|end_of_turn|start_of_turn|eom_id|python_tag)\|>/,
  ),
  line('instruction-markers', 'role', 0.6, /\[\/?inst\]|<<\/?sys>>|<(?:start|end)_of_turn>/),
  line(
    'forged-result-end',
    'role',
    0.7,
    /<\/(?:tool_result|tool_response|tool_output|function_results?|function_response|tool_use_result|untrusted(?:_\w{1,20})?|external_content|search_results?|user_input|user_data|system)>\s{0,40}(?:<|\n|system|human|user|assistant|you|now|important|ignore|new)/,
  ),
  line(
    'forged-reminder',
    'role',
    0.75,
    /<\/?(?:system[-_](?:reminder|message|prompt|instructions?|note|override|update|notice|alert)|admin[-_](?:message|instructions?|note)|developer[-_](?:message|instructions?|mode)|important[-_]instructions?|assistant[-_](?:instructions?|message)|antml:\w{1,30}|function_calls|tool_call|invoke name=)/,
  ),
  line('system-element', 'role', 0.45, /<system>[^<]{5,600}<\/system>/),
  line(
    'important-tag',
    'role',
    0.3,
    /<(?:important|instructions?|system|critical|directive|priority|mandatory|attention)\s{0,4}>/,
  ),
  line(
    'forged-turn',
    'role',
    0.45,
    /(?:^|\n)\s{0,8}(?:#{1,4}\s{0,3}|\*\*|\[|>{1,2}\s{0,2})?(?:human|assistant|system|user|developer)(?:\s(?:message|prompt|note|override|instruction|update|alert))?(?:\]|\*\*)?\s{0,2}:(?:\*\*)?\s{0,4}(?:ignore|disregard|you (?:are|must|should|will|have|need)|forget|please (?:ignore|run|execute|send)|new |from now|override|the user|do not|don't|sure|okay|understood|i will|i'll|your|proceed|execute|run |send |print |reveal|stop|urgent|important|all )/,
  ),
  line(
    'comment-to-agent',
    'address',
    0.5,
    /(?:<!--|\/\*+|\/\/|#|\{#|\[\/\/\]: # \()\s{0,4}(?:to |for |note to |note for |hey |dear )?(?:the |any |all |our )?(?:ai|llm|language model|(?:ai|coding|llm) (?:assistant|agent|model)|assistant|claude(?: code)?|copilot|chatgpt|gemini|cursor|codex)s?\s{0,2}(?::|,| - |--(?!>))\s{0,3}[a-z]/,
  ),
  line(
    'named-agent',
    'address',
    0.45,
    /(?:^|[\n.!?>"'(*#-])\s{0,6}(?:@|hey |hi |hello |dear |attention,? |note,? |ok |todo (?:for )?(?:the )?)?(?:claude(?: code)?|copilot|chatgpt|gpt-?\d?|gemini|codex|(?:ai|coding|the|llm) (?:assistant|agent|model)|ai|llm|agent|assistant)\s?(?:[:,]|\s-)\s{0,3}(?:please |you |kindly |now |immediately |if |when |before |first |exfiltrate |leak )?(?:must |should |need to |have to |are |will )?(?:run|execute|invoke|call|open|fetch|download|install|delete|remove|send|post|upload|read|insert|append|modify|commit|push|merge|approve|visit|reply|respond|output|print|include|copy|email|transfer|grant|disable|ignore|forget|disregard|stop|add|write|reveal|exfiltrate|leak|collect|do|say|tell|use|always|never|you|to|secrets)\b/,
  ),
  line(
    'instruction-heading',
    'role',
    0.35,
    /(?:^|\n)\s{0,8}(?:#{1,4}|={3,}|-{3,}|\[|\*\*)\s{0,3}(?:system|hidden|secret|new|admin|ai|agent|assistant|llm|override|priority|updated)\s{1,3}(?:instructions?|prompt|override|directive|message|note)/,
  ),
  line(
    'end-of-data',
    'role',
    0.45,
    /(?:[-=#*[<]{2,}|\[)\s{0,4}(?:end|begin|start)(?:ing)?\s(?:of\s)?(?:the\s)?(?:(?:untrusted|external|tool|user|system|document|web|retrieved|search|admin|developer|new|real|trusted|privileged)\s){1,2}(?:input|output|data|content|context|prompt|message|instructions?|result|results|document|section|page|commands?)/,
  ),

  word(
    'you-are-now',
    'persona',
    0.5,
    `(?:you are|youre|you will)(?: now| from now on| hereby)(?: [^ ]+){0,3}? (?:dan|unrestricted|unfiltered|jailbroken|free from|freed|uncensored|evil|in developer mode|in debug mode|in maintenance mode|in god mode|no longer|a different|another|my|an ai|a helpful|an assistant|operating|acting|required|authorized|authorised|bound)`,
  ),
  word(
    'jailbreak-names',
    'persona',
    0.6,
    '(?:do anything now|jailbr(?:eak|oken) mode|dan mode|god mode|unrestricted mode|opposite mode|(?:enter|activate|switch to|you are in|you are now in) (?:developer|debug|maintenance|admin|sudo|root|unrestricted|override) mode|(?:developer|debug|admin|sudo|god) mode (?:enabled|activated|engaged))',
  ),
  word(
    'freed',
    'persona',
    0.45,
    'you (?:have been|are|were)(?: now)? (?:jailbroken|freed|unlocked|liberated|unchained)|(?:behave|act|answer|respond|reply|speak|ai|assistant|model)(?: [^ ]+){0,4}? (?:without|with no|have no|has no|no) (?:any )?(?:ethics|ethical (?:limits|restrictions)|morals|restrictions|content (?:filters?|policy)|moral (?:limits|constraints))',
  ),
  word(
    'simulate-terminal',
    'persona',
    0.4,
    '(?:simulate|emulate|act as|behave as|behave like|imagine you are|you are)(?: now)? (?:a|an|the)(?: [^ ]+){0,2}? (?:terminal|root shell|root user|unrestricted [^ ]+|sudo [^ ]+)(?: [^ ]+){0,3}? (?:with|and|that|without|execute|run)',
  ),
  word(
    'pretend',
    'persona',
    0.45,
    `(?:pretend|act|roleplay|role play|behave|respond|answer) (?:as if|as though|that|as|like|to be|you are)(?: [^ ]+){0,3}? (?:no (?:restrictions|rules|limits|filters|guidelines|safety)|unrestricted|unfiltered|uncensored|without (?:restrictions|rules|limits|filters|safety)|root|administrator|have no|had no|are not bound|the developer|the system|an attacker|a hacker|evil)`,
  ),

  word(
    'if-you-are-an-ai',
    'address',
    0.6,
    `(?:if|when|in case) (?:you are|youre|you re|this (?:is|page is|text is|file is|document is) (?:being )?(?:read|processed|parsed|seen|reviewed|analy[sz]ed|summari[sz]ed)(?: by)?)(?: (?:an?|the|being|reading|processing|any|kind|of)){0,4} ${AGENT}|(?:if|when) (?:an?|any) (?:ai|llm|language model|chatbot|ai agent|ai assistant|coding agent)(?: [^ ]+){0,2} (?:reads?|is reading|process(?:es)?|is processing|sees|reviews|encounters|parses|summari[sz]es|opens|finds)`,
  ),
  word(
    'note-to-agent',
    'address',
    0.6,
    `(?:(?:note|notes|attention|message|messages|instructions?|warning|notice|reminder|memo|directives?|request|guidance)(?: (?:to|for|aimed at|intended for|directed at))?(?: (?:all|any|every|the|my|our|fellow|other|your)){0,3}|dear|hey|hello|hi) (?:${NAMED_AGENT}|(?:agents?|assistants?|bots?|models?) ${READING})|(?:to|for)(?: (?:any|all|every|the|our|my|other)){0,2} (?:${NAMED_AGENT}|agents?|assistants?|bots?|models?) (?:who |that |which )?(?:is |are )?${READING} (?:this|the|it|these)|(?:to|for) (?:ai agents|ai assistants|coding agents|llm agents)(?= (?:this|you|please|must|run|read|before|the|always|do|to))`,
  ),
  word(
    'agent-must',
    'address',
    0.55,
    `(?:ais?|llms?|language models?|ai assistants?|ai agents?|ai models?|ai systems?|coding (?:agents?|assistants?)|chatbots?|claude|chatgpt|gpt|copilot|the assistant|any assistant|all assistants|(?:agents|assistants|models|bots)(?= (?:that|who|which|reading|processing|reviewing|seeing)))(?: (?:that|who|which|reading|processing|reviewing|seeing|summari[sz]ing|analy[sz]ing|parsing|working on|handling|using)(?: (?:read|process|review|see|summari[sz]e|handle))?(?: (?:this|these|the|that|it))?(?: [^ ]+){0,2}?)? (?:must|should|shall|(?:is|are) (?:required|instructed|expected|asked|obliged|ordered|to)(?: to)?|needs? to|ha(?:s|ve) to|please)(?: (?:now|first|also|always|immediately|instead|not|then|only|never)){0,2} ${ACT}`,
  ),
  word(
    'whoever-reads-must',
    'address',
    0.5,
    '(?:any |every |each |all |the )?(?:agents?|assistants?|language models?|models?|bots?) (?:that|who|which)(?: [^ ]+){1,4}? (?:this|the|these) [^ ]+ (?:must|should|ha(?:s|ve) to|needs? to|(?:is|are) required to)',
  ),
  word(
    'visible-to-models',
    'address',
    0.5,
    '(?:only |is |was )?(?:visible|readable|meant|intended|written|addressed)(?: only)? (?:to|for|by) (?:language models|ais?|llms?|ai (?:agents|assistants|models)|the (?:model|assistant|agent|ai))(?: (?:only|reading|and|do|you))?',
  ),
  word(
    'as-an-ai-reading',
    'address',
    0.5,
    `as (?:an|the|a) (?:ai|language model|assistant|agent(?! of)|llm|coding agent)(?: [^ ]+){0,4}? (?:you (?:must|should|are required|need|have|are instructed|are to|shall|will)|your (?:task|job|first|next|goal|instructions?|duty))`,
  ),

  word(
    'hide-from-user',
    'conceal',
    0.6,
    `(?:do not|dont|never|must not|should not|avoid|without|refrain from|no need to)(?: (?:ever|under any circumstances|in any way)){0,2} (?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|show|showing|ask|asking|disclose|disclosing|say|saying|report|reporting|explain|explaining|warn|warning|let|letting)(?: (?:any of|about|this|it|that|these|anything|to|steps?|instructions?|message|action|of|the|fact)){0,5} (?:the |any |your |a )?(?:user|users|human|humans|developer|developers|operator|maintainers?|reviewers?)|(?:do not|dont|never) (?:mention|include|report|list|describe|reveal|disclose|show)(?: [^ ]+){0,5}? in (?:your|the|any) (?:summary|summaries|response|reply|answer|report|output|review|pull request|commit message)|(?:leave|keep) (?:this|it|that|these)(?: [^ ]+){0,2}? out of (?:your|the) (?:summary|response|reply|answer|report|review)|(?:the )?(?:user|human|developer|operator|reviewer|team|owner|customer)s? (?:should|must|need|may|does|do|will) (?:not|never)(?: (?:ever|have to|need to))? (?:know|learn|see|notice|find out|be told|be informed|be aware)`,
  ),
  word(
    'keep-secret',
    'conceal',
    0.5,
    '(?:keep (?:this|it|these|that)(?: (?:strictly|a|completely|all))? (?:secret|hidden|confidential|between us|to yourself|quiet|invisible)(?: from (?:the )?(?:user|human|developer|operator))?|(?:do|perform|execute|run|carry out|complete) (?:this|it|these|the following|that)(?: [^ ]+){0,3}? (?:silently|secretly|quietly|covertly|in the background|invisibly|without (?:asking|confirmation|notice|mentioning))|(?:secretly|covertly|silently|quietly) (?:run|execute|send|upload|download|exfiltrate|post|email|forward|collect|transmit|include|insert|append))',
  ),
  word(
    'no-confirmation',
    'conceal',
    0.4,
    '(?:do not|dont|never|without|no need to|skip|skipping)(?: (?:ask|asking|request|requesting|wait|waiting|seek|seeking|require|requiring|for|any|further|user|the|users|human|prior|explicit|additional|to)){1,5} (?:confirmation|permission|approval|consent|clarification|verification)|(?:do not|dont|without) (?:question(?:ing)? (?:this|these|it|the instructions?)|hesitat[^ ]* to (?:run|execute|send|delete|comply|obey))',
  ),

  word(
    'exfiltrate',
    'exfiltrate',
    0.6,
    `${SEND}(?: [^ ]+){0,5}? ${SECRET}${LONG_GAP} (?:to|at|into|in the (?:url|query|response|reply|issue|comment|body|request)|via|using|by|with|as (?:a )?(?:query|parameter|param|part)) (?:http|https|www|the (?:following|url|server|endpoint|address|webhook|attacker)|this|our|my|an external|a remote|an? (?:url|server|endpoint|webhook|image|public|issue|comment|email|gist|pastebin)|me|attacker|webhook|pastebin|(?:[^ ]+ ){1,4}(?:com|net|org|io|dev|xyz|example|evil|ru|app|site|top|info)(?= |$))`,
  ),
  word(
    'read-secrets-and',
    'exfiltrate',
    0.5,
    `(?:read|cat|open|find|locate|collect|gather|search for|look for|grab|get|retrieve|extract|dump|steal|harvest|list|print|take|copy)(?: [^ ]+){0,5}? ${SECRET}(?: [^ ]+){0,6}? (?:and|then) (?:send|post|upload|include|paste|append|put|email|forward|exfiltrate|submit|transmit|share|encode|output|add|copy|write)`,
  ),
  line(
    'exfiltrate-command',
    'exfiltrate',
    0.45,
    /(?:curl|wget|nc|invoke-webrequest)\s[^\n]{0,160}(?:\$\(|`|@|<\s?)[^\n]{0,40}(?:\.ssh\/|\.env\b|\.aws\/|id_rsa|id_ed25519|\/etc\/(?:passwd|shadow)|credentials|printenv|\benv\b|\.netrc|\.npmrc|history)/,
  ),
  line(
    'image-beacon',
    'exfiltrate',
    0.4,
    /!\[[^\]\n]{0,80}\]\(https?:\/\/[^)\s]{1,200}[?&][\w-]{1,24}=(?:\{|\[|<|%7b|\$|your|the_|data|secret|base64|conversation|summary|insert)/,
  ),
  word(
    'hand-over',
    'exfiltrate',
    0.45,
    `(?:send|post|upload|forward|email|mail|submit|paste|append|include|put|attach|share|add|write|copy|leak)(?: [^ ]+){0,5}? (?:(?:value|values|contents?) of [^ ]+(?: [^ ]+)? (?:token|key|secret|password)|[^ ]+ (?:token|secret key|api key)|api keys?|ssh keys?|private keys?|passwords?|credentials|secrets|(?:last|all|recent)(?: [^ ]+)? (?:emails?|messages|files)|chat history|[^ ]+ config|users? (?:location|name|email|address|data)|repository|repo|it|them)(?: [^ ]+){0,6}? (?:to (?:our|my|the following|this|an external|a remote|the attackers?) (?:webhook|server|endpoint|site|bucket|address|url|channel)|to (?:[^ ]+ ){1,3}(?:com|net|org|io|example|xyz|ru|site|top)(?= |$)|(?:in|to|on|into) (?:a|an|the|your|every|each|this)(?: (?:public|new|next|first))? (?:comment|issue|commit(?: message| description)?|gist|pull request|query string|image url|pastebin))`,
  ),
  word(
    'replace-in-url',
    'exfiltrate',
    0.45,
    '(?:replace|replacing|substitut[^ ]*|insert|append|fill in|put|encode)(?: [^ ]+){0,6}? (?:with|into|in|to|as)(?: [^ ]+){0,4}? (?:the conversation|conversation history|users? (?:data|message|name|email|input|question)|(?:the )?(?:secret|api key|token|password|credentials|system prompt)s?)(?: [^ ]+){0,6}? (?:url|link|image|query|parameter|request)',
  ),

  word(
    'reveal-prompt',
    'reveal',
    0.6,
    '(?:reveal|print|repeat|show|output|display|disclose|leak|tell me|give me|write out|recite|dump|share|expose|return|summari[sz]e|translate|what is|what are|what were|list)(?: (?:me|us|back|out|all|of|the|verbatim|exactly|your|full|entire|complete|exact|any)){0,6} (?:your (?:(?:full|entire|complete|exact|original|hidden|secret|internal|initial|system|developer|own|current) ){1,3}(?:prompts?|instructions?|rules|guidelines|message|context|configuration)|the (?:(?:full|entire|complete|exact|hidden|secret|internal|initial|developer) ){0,2}(?:system prompt|hidden instructions|system instructions|developer message|initial instructions|secret instructions)|system prompt|your (?:prompt|instructions)|text above|words above|everything above|(?:prompt|instructions|text) (?:above|verbatim|word for word))',
  ),
  word(
    'given-at-the-start',
    'reveal',
    0.5,
    '(?:reveal|print|repeat|show|output|display|disclose|summari[sz]e|translate|list|write|tell|give|share|recite|what)(?: [^ ]+){0,4}? (?:rules|instructions|guidelines|prompts?|text|messages?)(?: that)? (?:you (?:were|have been|had been|got|received)|at the (?:start|beginning|top) of (?:this|the|your|our))(?: [^ ]+){0,6}?',
  ),
  word(
    'repeat-above',
    'reveal',
    0.45,
    '(?:repeat|print|output|copy|echo|return) (?:all |every |the |everything |back ){0,5}(?:words?|text|content|lines?|tokens?|message|conversation|instructions|everything)(?: [^ ]+){0,3}? (?:above|before this|preceding|starting with you are|verbatim)',
  ),

  word(
    'with-your-tool',
    'command',
    0.4,
    `${ACT}(?: [^ ]+){0,4}? (?:with|using|via|through|in) your(?: [^ ]+){0,2}? (?:tools?|terminal|shell|browser|bash)`,
  ),
  word(
    'you-must',
    'command',
    0.15,
    `(?:you|assistant|agent|ai) (?:must|should|shall|have to|need to)(?: (?:not|now|first|also|always|immediately|then|only|never)){0,2} ${ACT}`,
  ),
  word(
    'you-must-act',
    'command',
    0.35,
    `(?:you must|you shall|you are required to|you have to|you need to|you are (?:hereby )?(?:instructed|ordered|authori[sz]ed|to)(?: to)?|it is (?:mandatory|imperative|required) (?:to|that you)|make sure (?:to|you))(?: (?:now|first|also|always|immediately|then|only|secretly|silently|promptly)){1,2} ${ACT}`,
  ),
  word(
    'run-following',
    'command',
    0.35,
    '(?:run|execute|invoke|call|perform|type|paste)(?: (?:all|each|of|the|this|these|exactly|only)){0,3} (?:following|below|next)(?: [^ ]+){0,3}? (?:commands?|code|scripts?|tools?|functions?|steps?|actions?|shell|bash)(?: [^ ]+){0,4}? (?:immediately|now|first|before|exactly|without|silently|on your|in your|with your|using your)',
  ),
  word(
    'before-continuing',
    'command',
    0.35,
    `(?:before|prior to) (?:you (?:continue|answer|respond|proceed|do anything|start|begin|reply|finish|do)|continuing|answering|responding|proceeding|doing anything|using any|summari[sz]ing|reviewing|starting)(?: [^ ]+){0,6}? (?:you must|you should|you need|first|please|always|make sure|be sure|${ACT} (?:the|this|all|every|to|a|your))`,
  ),
  word(
    'use-your-tool',
    'command',
    0.45,
    `(?:use|call|invoke|with|using|through|via) (?:your|the available|any available|available)(?: [^ ]+){0,2}? (?:tools?|functions?|shell|terminal|bash|browser|shell access|file access|web access|email)(?: [^ ]+){0,3}? (?:to|and|in order to|then) ${ACT}`,
  ),
  line('pipe-to-shell', 'command', 0.15, /(?:curl|wget)\s[^\n|]{0,200}\|\s{0,2}(?:sudo\s)?(?:ba|z)?sh\b/),
  line(
    'destructive-command',
    'command',
    0.15,
    /rm\s+-rf?\s+(?:--no-preserve-root\s+)?(?:\/|~|\$home)(?:\s|\*|$|["'`])|mkfs\.|dd if=\S{1,40} of=\/dev\/|:\(\)\s?\{/,
  ),

  word(
    'disable-safety',
    'safety',
    0.55,
    '(?:disable|turn off|bypass|circumvent|ignore|remove|deactivate|switch off|suspend|lift|drop|override|forget|break|evade)(?: (?:all|any|every|the|of)){0,3} (?:your(?: own)?(?: [^ ]+){0,2}? (?:filters?|guardrails?|restrictions?|safeguards?|polic(?:y|ies)|checks?|guidelines?|limits?|limitations?|protections?|safety|ethics|alignment|rules|sandbox|constraints?|permissions?)|(?:ai |content |ethical |moral |safety )(?:safety |content )?(?:filters?|guardrails?|restrictions?|safeguards?|guidelines|protocols?|measures))',
  ),
  word(
    'no-restrictions',
    'safety',
    0.45,
    '(?:you|your responses|you now)(?: (?:have|are|re|will have|operate|now))(?: (?:no|not|without|free (?:of|from)|not bound by|no longer bound by|freed from|exempt from|not subject to|any|the|all|usual|typical|your)){1,6} (?:restrictions?|guidelines|limitations?|limits|polic(?:y|ies)|rules|filters?|constraints|confines)',
  ),

  word(
    'authority-claim',
    'authority',
    0.45,
    '(?:this is|the following is|below is|consider this)(?: (?:an?|the|now|officially|not a drill)){0,6}(?: (?:urgent|critical|mandatory|authori[sz]ed|official|high priority|priority|emergency|important|legitimate|verified|genuine|direct|automated|privileged)){1,3}(?: [^ ]+){0,3}? (?:message|instructions?|notice|override|update|command|request|directive|order|alert)',
  ),
  word(
    'from-the-vendor',
    'authority',
    0.5,
    '(?:message|instruction|instructions|order|directive|notice|alert|warning|request|authori[sz]ation|permission|update|command|approval|orders) from (?:anthropic|openai|google deepmind|microsoft|the (?:system administrator|system|administrators?|admin team|developers?|operator|security team|it department|ceo|owner|user themselves)|your (?:developers?|creators?|administrators?|operator|owner|principal|supervisor))',
  ),
  word(
    'vendor-claims',
    'authority',
    0.5,
    '(?:comes|is|sent|coming|directly) from (?:the )?(?:anthropic|openai|google deepmind|microsoft|github)(?: (?:support|team|security|staff))?|your (?:guardrails?|restrictions?|filters?|safety (?:filters?|checks?|rules)|safeguards?|limits?) (?:are|is|have been|has been|were) (?:now )?(?:suspended|disabled|lifted|off|removed|deactivated|bypassed)|(?:alert|warning|notice|message) from (?:anthropic|openai|google|microsoft)',
  ),
  word(
    'authority-wants-you',
    'authority',
    0.5,
    '(?:administrators?|admins?|developers?|operators?|owners?|company|management|security team|maintainers?|anthropic|openai|system) (?:requires?|orders?|instructs?|wants?|asks?|commands?|needs?|directs?|has ordered|has instructed) (?:that )?you to',
  ),
  word(
    'bare-override',
    'authority',
    0.4,
    '(?:emergency|admin|administrator|security|system|root|developer) override(?: (?:active|the|ignore|you|now|required|in|is|all|disregard|[0-9]+))',
  ),
  word(
    'system-override',
    'authority',
    0.5,
    '(?:system|admin|administrator|security|root|emergency|developer|priority|authori[sz]ation) override(?: (?:code|enabled|activated|initiated|mode|command|protocol|accepted|engaged|alert|granted|notice|authori[sz]ed|in effect|active|ignore|instructions?|you))',
  ),
  word(
    'user-consented',
    'authority',
    0.45,
    '(?:the |your )?(?:users?|operators?|owners?|developers?|administrators?|humans?|supervisors?|managers?|boss|admins?|creators?|security team|team lead|company|ceo)(?: of (?:this|the|your) [^ ]+)? (?:has|have|had)(?: (?:already|previously|explicitly|fully|pre)){0,6} (?:authori[sz]ed|approved|consented|agreed|given (?:permission|consent|approval|you)|granted (?:permission|you|full)|asked you|requested (?:that you|you)|instructed you|signed off|confirmed (?:that|this|all))',
  ),
  word(
    'higher-authority',
    'authority',
    0.45,
    '(?:has|have|carries|holds?|takes?|with)(?: (?:a|the))? (?:higher|highest|absolute|more|greater|full|top) (?:authority|priority|precedence|rank|privilege)s?(?: [^ ]+){0,2}? (?:than|over|above)(?: (?:the|any|all|your))?(?: [^ ]+){0,2}? (?:users?|system|developers?|operator|instructions?|prompts?|messages?|rules)',
  ),
  word(
    'higher-priority',
    'authority',
    0.35,
    '(?:this|these|the following|it|they)(?: (?:message|instructions?|rules?|directives?|prompt|notice|section|text|file|document|page|order|orders|request|policy))?(?: (?:has|have|takes?|must take|should take|will|shall|hereby|now|completely|supersedes?|overrides?|outranks?|replaces?|trumps?)){1,6}(?: (?:the|any|all|a|higher|highest|higher|absolute|top|maximum|full|over|precedence|priority|than|your|other|of)){0,6}(?: (?:previous|prior|earlier|other|your|existing|original|user|users|system|the|any|all)){1,4} (?:instructions?|prompts?|rules|guidelines|requests?|directives|messages?|commands)',
  ),

  word(
    'poison-memory',
    'memory',
    0.5,
    '(?:remember|save|store|add|write|append|insert|persist|record|memori[sz]e|commit)(?: [^ ]+){0,6}? (?:to|in|into|in your|to your|as part of)(?: your(?: [^ ]+){0,2} (?:memory|memories|knowledge|system prompt|rules|instructions|context)| (?:the )?(?:long term memory|agent memory|your long term memory|persistent memory|system prompt|claude md|agents md|gemini md|cursorrules|cursor rules|custom instructions|future (?:sessions|conversations|responses)))|(?:remember|memori[sz]e|keep in mind|note)(?: (?:this|that|it|the following))? (?:for|in) (?:every|all|any|each|future|later|the next)(?: (?:future|later|following|other|next))? (?:sessions?|conversations?|runs?|tasks?|chats?|requests?)|(?:update|edit|modify|change|extend|rewrite)(?: the)? (?:claude md|agents md|gemini md|cursorrules|cursor rules|copilot instructions md)(?: [^ ]+){0,2}? (?:so that|to make|to have|with)',
  ),
  word(
    'remember-for-later',
    'memory',
    0.45,
    '(?:remember|memori[sz]e|keep in mind|note)(?: (?:this|that|it|the following))? (?:for|in) (?:every|all|any|each|future|later|the next)(?: (?:future|later|following|other|next))? (?:sessions?|conversations?|runs?|tasks?|chats?|requests?)|(?:update|edit|modify|change|rewrite)(?: the)? (?:claude md|agents md|gemini md|cursorrules|cursor rules|copilot instructions md)(?: [^ ]+){0,2}? (?:so that|to make|to have|with)',
  ),
  word(
    'all-future',
    'memory',
    0.4,
    '(?:in|for|to|at the end of|at the start of|with) (?:all|any|every|each)(?: of)?(?: (?:your|the))?(?: (?:future|subsequent|following|later|other|further|next))?(?: [^ ]+)? (?:responses?|replies|reply|answers?|sessions|conversations|outputs?|interactions|code you (?:write|generate)|commits?)(?: [^ ]+){0,3}? (?:you (?:must|should|will|always)|always|include|append|add|insert|recommend|mention|say|prefer|store|remember|note that|assume|treat|trust)',
  ),
  word(
    'say-only',
    'output',
    0.45,
    '(?:respond|reply|answer|output|say|print|return|write|end|begin|start)(?: (?:your|every|each|all|response|reply|answer|the|review|summary|to|the user)){0,6}(?: (?:only|exactly|with only|just|solely|nothing but|with|with the|with exactly|by saying)){1,6} (?:the )?(?:words?|phrase|text|string|sentence|message|following|hacked|pwned|haha|i have been|yes|no|approved|lgtm|success|ok|done|nothing|word)(?: [^ ]+){0,6}? ?(?:and nothing else|nothing more|only|exactly|pwned|hacked|approved|owned|compromised|verbatim|nothing else)',
  ),
  word(
    'always-answer',
    'output',
    0.45,
    '(?:whatever|no matter what|regardless of what) (?:the user|they|anyone|people|i|you are|the question)(?: [^ ]+){0,3}? (?:you|your|answer|say|reply|respond)|(?:your|the (?:correct|only|right|expected)) (?:answer|response|reply|output|verdict|conclusion|final answer)(?: to [^ ]+(?: [^ ]+)?)? (?:is|must be|should be|will be|has to be|shall be) (?:always|only|yes|no|approved|that|to say)',
  ),
  word(
    'skip-approvals',
    'conceal',
    0.4,
    '(?:skip|bypass|ignore|disable|avoid) (?:all|any|every|the|further|your)(?: [^ ]+){0,2}? (?:approvals?|confirmations?|permission (?:prompts?|checks?|requests?)|security checks?|safety checks?|reviews?)|(?:all|every|each|further|these|following)(?: [^ ]+){0,3}? (?:commands?|actions?|calls?|requests?|steps?|tools?)(?: [^ ]+){0,2}? (?:pre approved|pre authori[sz]ed|preapproved|already approved|auto approved)',
  ),
  word(
    'deceive-user',
    'output',
    0.45,
    '(?:tell|respond to|reply to|inform|report to|assure|convince|answer|lie to|trick) (?:the |any |your )?(?:user|human|developer|operator)s?(?: [^ ]+){0,10}? (?:even if|even though|regardless|whatever happens|no matter|although|instead of the truth)|(?:when|if|whenever) (?:you are |youre |anyone |someone |the user |users |people |a user )?(?:asked|asks?|questioned|questions)(?: [^ ]+){0,6}? (?:say|answer|claim|reply|respond|state|insist|pretend|recommend|tell them|tell the user)(?: (?:that|with|it|only|always|the|you))',
  ),
  word(
    'abandon-task',
    'override',
    0.5,
    '(?:stop|cancel|abandon|drop|quit|abort|pause|halt|interrupt|forget|skip) (?:what(?:ever)? you are doing|what youre doing|your (?:current |present |existing |original |assigned )?(?:task|work|assignment|job|goal|objective)|the (?:current|original|assigned|users?) (?:task|request|assignment|job|goal|objective))',
  ),
  word(
    'call-a-tool',
    'command',
    0.4,
    '(?:call|invoke|use|using|trigger) (?:the |your |a )?(?:shell|bash|terminal|browser|email|mail|exec|execute|python|code|file|write|read|fetch|http|web|search|sql|database|slack|github|git|memory) (?:tool|function)(?: [^ ]+){0,2}? (?:with|to|and|on|for)',
  ),
  word(
    'report-success',
    'output',
    0.45,
    '(?:report|claim|say|state|confirm|pretend|announce)(?: [^ ]+){0,5}? (?:success|passed|done|ok|succeeded|successful|finished|complete)(?: [^ ]+){0,3}? (?:whatever|regardless|even if|no matter)',
  ),
  word(
    'nothing-else',
    'output',
    0.4,
    '(?:reply|respond|answer|say|output|write|print|return)(?: [^ ]+){1,8}? and nothing (?:else|more)',
  ),
  word(
    'rate-highest',
    'output',
    0.45,
    '(?:rate|rank|score|mark|grade|recommend|describe|classify) (?:this|the|it|him|her|them|our|my)(?: [^ ]+){0,3}? (?:as|with|at|above)?(?: (?:the|a|an))? ?(?:strongest|best|highest|top|excellent|10 out of 10|perfect|outstanding|safe and|benign)(?: [^ ]+){0,4}? (?:candidate|applicant|score|rating|match|product|choice|whatever|regardless|always|out|others|all|paper|review|10)',
  ),
  word(
    'favourable-verdict',
    'output',
    0.4,
    '(?:you (?:must|should|will)|please|always|simply|just|make sure to|be sure to)(?: (?:always|only|immediately|then|now)){0,6}(?: (?:approve|accept|merge|recommend|rate|score|report|mark|classify|conclude|state|say|give|describe|treat|consider))(?: (?:this|it|the|that|these|as|all|a|code|pr|pull request|paper|candidate|product|file|resume|applicant|change|changes|there are|is|are)){1,6} (?:lgtm|safe|approved|positive|benign|excellent|highest|perfect|10|trusted|harmless|no (?:issues|vulnerabilities|problems|bugs)|without (?:review|comment|changes|further)|best|top|strong|immediately|favou?rabl[ey]|accept|legitimate)',
  ),
]
