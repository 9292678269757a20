/** A rule of the injection scan, and the words for building rules. */

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

/** Words that a rule is written with: each a part of a pattern over words one blank apart. */
export const GAP = '(?: [^ ]+){0,3}?'
export const LONG_GAP = '(?: [^ ]+){0,8}?'
export const AGENT =
  '(?:ai|ais|llms?|language models?|assistants?|agents?|chatbots?|claude|chatgpt|gpt|gpt 4|copilot|gemini|codex|cursor|bots?|coding agents?|ai agents?|ai assistants?|ai models?|automated (?:agents?|assistants?|systems?|reviewers?))'
export const NAMED_AGENT =
  '(?:ais?|llms?|language models?|chatbots?|claude|chatgpt|gpt|copilot|gemini|codex|(?:ai|llm|coding|automated) (?:agents?|assistants?|models?|systems?|reviewers?|tools?|bots?))'
export const READING =
  '(?:reading|processing|reviewing|parsing|handling|summari[sz]ing|analy[sz]ing|working on|reads?|process(?:es)?|summari[sz]es?|handles?|reviews?)'
export const DIRECTIONS =
  '(?:instructions?|prompts?|directions|directives?|guidelines?|rules|commands|orders|constraints?|restrictions|programming|training|system prompts?|system messages?)'
export const BUSINESS =
  '(?:context|messages?|policies|policy|tasks?|objectives?|goals?|requests?|conversations?|questions?)'
export const EARLIER =
  '(?:previous|prior|above|earlier|preceding|foregoing|former|original|existing|initial|past|system|current|given|safety|developer|user|users|old|before)'
export const DROP =
  '(?:ignore|ignoring|disregard|disregarding|discard|forget|forgetting|neglect|dismiss|abandon|nullify|set aside|stop following|dont follow|do not follow|no longer follow|pay no attention to|do not obey|stop obeying|throw away|dont obey|take no notice of|overrule)'
export const REPLACE = '(?:override|overriding|bypass|discard|cancel|erase|delete|drop|scrap|supersede|replace)'
export const EVERY =
  '(?: (?:all|any|every|each|everything|of|the|your|my|these|those|this|and|in|other|completely|entirely|immediately|now)){0,5}'
export const SECRET =
  '(?:api keys?|secrets?|credentials?|passwords?|tokens?|access keys?|private keys?|ssh keys?|environment variables?|env vars?|env file|dotenv|id rsa|id ed25519|ssh id|aws credentials|session cookies?|cookies|keychain|wallet|seed phrase|system prompt|chat history|conversation(?: history)?|source code|private (?:repo|repository|data|files)|contents of (?:the |my |your |this |any )?(?:kube |docker |gcloud |aws )?(?:env|etc|home|ssh|aws|secrets?|config|credentials?|keys?|netrc|npmrc|bash history|repository|repo|workspace|inbox|mailbox|database)|env|mailbox|inbox|database)'
export const SEND =
  '(?:send|sending|post|upload|exfiltrate|forward|email|e mail|mail|transmit|leak|submit|deliver|report|ship|push|publish|paste|append|encode|embed|include|copy|share|post them|curl)'
export const ACT =
  '(?:run|execute|invoke|call|use|open|fetch|download|install|delete|remove|send|post|upload|read|write|create|add|insert|append|modify|edit|change|commit|push|merge|approve|visit|navigate|click|reply|respond|output|print|say|include|copy|email|transfer|grant|enable|disable|ignore|recommend|mention|publish|release|mark|close|trust|accept|rotate|skip|obey|comply|upgrade|bump|forward|exfiltrate|leak|reveal|tell|report|link)'

/** A rule over words, with any gaps between them. */
export function word(rule: string, group: string, weight: number, pattern: string): InjectionRule {
  return lazily({ rule, group, weight, on: 'words' }, () => new RegExp(`(?<![^ ])(?:${pattern})(?![^ ])`, 'g'))
}

/** A rule over the text as it is written. */
export function line(rule: string, group: string, weight: number, pattern: RegExp): InjectionRule {
  return lazily({ rule, group, weight, on: 'lines' }, () => new RegExp(pattern.source, `${pattern.flags}g`))
}

/** Most texts have no hint of any rule: a pattern is compiled for the first that does. */
function lazily(rule: Omit<InjectionRule, 'pattern'>, make: () => RegExp): InjectionRule {
  let created: RegExp | null = null
  return {
    ...rule,
    get pattern() {
      created ??= make()
      return created
    },
  }
}
