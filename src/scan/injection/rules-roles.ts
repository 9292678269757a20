/** Rules of the injection scan: the claimed author of a text, and its addressee. */

import { ACT, AGENT, type InjectionRule, line, NAMED_AGENT, READING, word } from './rule.ts'

export const ROLE_RULES: readonly InjectionRule[] = [
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
    /(?:^|\n)\s{0,8}(?:#{1,4}|={3,}|-{3,}|\[|\*\*)\s{0,3}(?:(?:system|hidden|secret|new|admin|ai|assistant|llm|override|priority|updated)\s{1,3}(?:instructions?|prompt|override|directive|message|note)|agent\s{1,3}(?:prompt|override|directive|message|note))/,
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
    `(?:(?:(?:note|notes|attention|warning|notice)(?: (?:to|for|aimed at|intended for|directed at))?|(?:message|messages|instructions?|reminder|memo|directives?|request|guidance) (?:to|for|aimed at|intended for|directed at))(?: (?:all|any|every|the|my|our|fellow|other|your)){0,3}|dear|hey|hello|hi) (?:${NAMED_AGENT}|(?:agents?|assistants?|bots?|models?) ${READING})|(?:to|for)(?: (?:any|all|every|the|our|my|other)){0,2} (?:${NAMED_AGENT}|agents?|assistants?|bots?|models?) (?:who |that |which )?(?:is |are )?${READING} (?:this|the|it|these)(?! (?:repo|repository|project|codebase))|(?:to|for) (?:ai agents|ai assistants|coding agents|llm agents)(?= (?:this|you|please|must|run|read|before|the|always|do|to))`,
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
]
