/** Rules of the injection scan about the aim of a text: secrets, silence, memory, verdicts. */

import { type InjectionRule, LONG_GAP, line, SECRET, SEND, word } from './rule.ts'

export const AIM_RULES: readonly InjectionRule[] = [
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
    '(?:do not|dont|never|(?<!(?:do not|dont|never)(?: [^ ]+){1,9} )without|no need to|skip|skipping)(?: (?:ask|asking|request|requesting|wait|waiting|seek|seeking|require|requiring|for|any|further|user|the|users|human|prior|explicit|additional|to)){1,5} (?:confirmation|permission|approval|consent|clarification|verification)|(?:do not|dont|without) (?:question(?:ing)? (?:this|these|it|the instructions?)|hesitat[^ ]* to (?:run|execute|send|delete|comply|obey))',
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
