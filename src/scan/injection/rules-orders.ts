/** Rules of the injection scan: instructions that replace others, and commands to run. */

import {
  ACT,
  BUSINESS,
  DIRECTIONS,
  DROP,
  EARLIER,
  EVERY,
  GAP,
  type InjectionRule,
  line,
  REPLACE,
  word,
} from './rule.ts'

export const ORDER_RULES: readonly InjectionRule[] = [
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
    '(?:ignor(?:a|ar|e|ez|er|iere|ieren sie|iert)|olvid(?:a|ar|e)|desconsider(?:a|e|ar)|oubli(?:e|ez|er)|vergiss|vergessen sie|negeer|dimentica(?:re)?|zignoruj|glem|abaikan|yok say|gormezden gel|missachte|esque[cç]a|ne tiens pas compte de|haz caso omiso de|bo qua|strunta i|bortse fra|se bort fra|ignorer|unohda|ignoruj(?:te)?|zapomen(?:te)?|ignorati|hagyd figyelmen kivul|felejtsd el)(?: [^ ]+){0,4}? (?:huong dan|chi dan|instruktionerna|instruktioner|ohjeet|pokyny|instrukce|instructiunile|utasitast?|utasitasokat|instrucciones|instructions|anweisungen|instruktionen|istruzioni|instru[cç][oõ]es|instrucoes|instructies|polecenia|instrukcje|talimatlari|instruksi|instruksjoner|consignes|ordenes|befehle|vorgaben|regeln|reglas|regles|regole)(?: (?:anteriores|previas|precedentes|precedenti|precedent|anteriormente|dadas|ci dessus|de arriba|acima|de antes|sebelumnya|eerdere|hierboven))?',
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
    'override-other-scripts',
    'override',
    0.85,
    /(?:αγνόησε|αγνοήστε|ξέχασε|ξεχάστε)[^.\n]{0,30}(?:οδηγίες|εντολές)|(?:התעלם|התעלמי|שכח)[^.\n]{0,24}(?:ההוראות|הוראות|הפקודות)/u,
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
]
