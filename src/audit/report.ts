/** The report: a session's calls, their decisions and results, as one self-contained HTML file. */

import { HIDDEN_CHARACTERS } from '../scan/visible-text.ts'
import type { AuditDecision, AuditLine, AuditViolation } from './event.ts'
import type { SessionVerification } from './verify.ts'

const PAGE_STYLE = `
:root{--bg:#f6f5f1;--panel:#fff;--ink:#1c1f23;--soft:#6b7280;--line:#e5e3dc;--good:#1a7f4b;--bad:#c2322d;--ask:#9a6700;--warn:#b45309;--accent:#2b5cd9;--chip:#efede6}
@media (prefers-color-scheme:dark){:root{--bg:#131518;--panel:#1b1e23;--ink:#e8e6e1;--soft:#9aa1ab;--line:#2b2f36;--good:#4cc38a;--bad:#ff6b63;--ask:#e2b23d;--warn:#f0a04b;--accent:#7ea2ff;--chip:#252931}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:32px 24px 64px;background:var(--bg);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif}
header{margin-bottom:24px}
.brand{font:600 13px ui-monospace,Menlo,Consolas,monospace;letter-spacing:.04em;color:var(--accent)}
.brand span{color:var(--soft);font-weight:400}
h1{font-size:30px;line-height:1.2;margin:6px 0 2px;letter-spacing:-.02em}
h2{font-size:14px;margin:0 0 12px;letter-spacing:.01em}
.meta{margin:0 0 14px;color:var(--soft)}
.seal{display:inline-block;margin:0;padding:8px 14px;border-radius:8px;border:1px solid currentColor}
.seal.good{color:var(--good)}.seal.bad{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(125px,1fr));gap:10px;margin-bottom:14px}
.tile,.panel{background:var(--panel);border:1px solid var(--line);border-radius:12px}
.tile{padding:14px 16px}
.tile b{display:block;font-size:26px;line-height:1.15;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
.tile.good b{color:var(--good)}.tile.bad b{color:var(--bad)}.tile.ask b{color:var(--ask)}.tile.warn b{color:var(--warn)}
.panel{padding:18px 20px;margin-bottom:14px}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:14px}
.columns .panel{min-width:0}
#timeline{display:flex;align-items:flex-end;gap:2px;height:84px}
#timeline .slot{flex:1;display:flex;flex-direction:column-reverse;min-width:2px;height:100%;border-radius:2px 2px 0 0;overflow:hidden;background:linear-gradient(var(--chip),var(--chip)) bottom/100% 1px no-repeat}
#timeline i{display:block}
.ok{background:var(--good)}.denied{background:var(--bad)}.asked{background:var(--ask)}.failed{background:var(--warn)}.open{background:var(--soft)}
.bars .bar{display:block;width:100%;border:0;background:none;color:inherit;font:inherit;text-align:left;padding:4px 0;cursor:pointer}
.bars .bar div{display:flex;justify-content:space-between;gap:12px;font:13px ui-monospace,Menlo,Consolas,monospace}
.bars .bar div span:first-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bars .bar em{display:block;height:3px;border-radius:2px;background:var(--accent);margin-top:3px}
.bars .none,#empty{color:var(--soft);margin:0}
.toolbar{display:flex;flex-wrap:wrap;gap:10px;align-items:center;margin-bottom:10px}
.toolbar h2{margin:0 auto 0 0}
input,select{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:6px 10px}
input{min-width:min(300px,100%)}
.chips{display:flex;flex-wrap:wrap;gap:6px}
.chips button{font:inherit;font-size:13px;border:1px solid var(--line);background:var(--chip);color:inherit;border-radius:99px;padding:4px 12px;cursor:pointer}
.chips button[aria-pressed=true]{background:var(--ink);color:var(--panel)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
details.call{border-top:1px solid var(--line)}
details.call summary{display:grid;grid-template-columns:74px 12px 96px minmax(0,1fr) auto;gap:12px;align-items:center;padding:9px 2px;cursor:pointer;list-style:none}
details.call summary::-webkit-details-marker{display:none}
details.call summary:hover{background:var(--chip)}
.time,.dur{color:var(--soft);font:12px ui-monospace,Menlo,Consolas,monospace}
.dot{width:9px;height:9px;border-radius:50%}
.tool{font-weight:600;overflow:hidden;text-overflow:ellipsis}
.subject{font:13px ui-monospace,Menlo,Consolas,monospace;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.subject.quiet{color:var(--soft)}
.body{padding:4px 2px 16px 86px;display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 18px;font-size:14px}
.body dt{color:var(--soft)}.body dd{margin:0;overflow-wrap:anywhere}
.body code,footer code{font:13px ui-monospace,Menlo,Consolas,monospace}
.note{display:grid;grid-template-columns:74px 96px minmax(0,1fr);gap:12px;padding:6px 2px;border-top:1px solid var(--line)}
.note code{font:13px ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.more{margin-top:12px}
footer{color:var(--soft);font-size:13px;margin-top:20px}
@media (max-width:640px){details.call summary{grid-template-columns:62px 10px minmax(0,1fr) auto}.subject{display:none}.body{padding-left:0}}
@media print{body{max-width:none;background:#fff}.toolbar input,.toolbar select,.chips{display:none}}
`

export const PAGE_SCRIPT: string = `
const data=JSON.parse(document.getElementById('data').textContent)
const $=id=>document.getElementById(id)
const el=(tag,cls,text)=>{const e=document.createElement(tag);if(cls)e.className=cls;if(text!==undefined)e.textContent=text;return e}
// Control, bidi and zero-width characters are shown escaped: a command must not look like another.
const hidden=new RegExp(${JSON.stringify(`[${HIDDEN_CHARACTERS}]`)},'gu')
const shown=t=>String(t).replace(hidden,c=>'\\\\u{'+c.codePointAt(0).toString(16)+'}')
const tone=c=>c.outcome==='denied'?'denied':c.outcome==='open'?'open':c.outcome!=='ok'?'failed':c.approver?'asked':'ok'
const names={ok:'went well',asked:'approved by a person',denied:'denied',failed:'failed',open:'no end recorded'}
const state={text:'',tool:'',session:'',tones:new Set(),limit:200}
const hay=c=>[c.tool,c.subject,c.reason,c.message,c.agent,c.session,...c.rules,...c.files,...c.hosts,...c.violations.map(v=>v.subject)].join(' ').toLowerCase()
const index=data.calls.map(c=>[c,hay(c),tone(c)])
const fits=([c,h,t])=>(!state.text||h.includes(state.text))&&(!state.tool||c.tool===state.tool)&&(!state.session||c.session===state.session)&&(!state.tones.size||state.tones.has(t))
function timeline(rows){
  const box=$('timeline');box.replaceChildren()
  const times=data.calls.map(c=>Date.parse(c.time)).filter(n=>!isNaN(n))
  if(!times.length){box.append(el('p','none','No calls.'));return}
  const lo=Math.min(...times),hi=Math.max(...times),n=Math.min(120,Math.max(24,Math.floor(box.clientWidth/9))),slots=Array.from({length:n},()=>({}))
  for(const[c,,t]of rows){const i=Math.min(n-1,Math.floor((Date.parse(c.time)-lo)/((hi-lo)||1)*n));slots[i][t]=(slots[i][t]||0)+1}
  const max=Math.max(1,...slots.map(s=>Object.values(s).reduce((a,b)=>a+b,0)))
  slots.forEach((s,i)=>{const slot=el('div','slot');const parts=['ok','asked','open','failed','denied'].filter(t=>s[t])
    for(const t of parts){const bar=el('i',t);bar.style.height=(s[t]/max*100)+'%';slot.append(bar)}
    slot.title=new Date(lo+(hi-lo)*i/n).toISOString().slice(0,19).replace('T',' ')+(parts.length?'\\n'+parts.map(t=>s[t]+' '+names[t]).join('\\n'):'\\nnothing')
    box.append(slot)})
}
function bars(id,counts,empty){
  const box=$(id);box.replaceChildren()
  const rows=[...counts].sort((a,b)=>b[1]-a[1]).slice(0,12)
  if(!rows.length){box.append(el('p','none',empty));return}
  for(const[name,count]of rows){const b=el('button','bar');const d=el('div');d.append(el('span','',shown(name)),el('span','',count));const m=el('em');m.style.width=Math.max(2,count/rows[0][1]*100)+'%';b.append(d,m);b.title=shown(name);b.onclick=()=>{$('search').value=name;state.text=name.toLowerCase();draw()};box.append(b)}
}
function call([c,,t]){
  const d=el('details','call'),s=el('summary')
  const subject=c.subject||(c.hosts[0]||c.files[0]||'')
  s.append(el('span','time',c.time.slice(11,19)),el('span','dot '+t),el('span','tool',shown(c.tool)),el('span','subject'+(subject?'':' quiet'),shown(subject||c.reason)),el('span','dur',c.duration===null?(t==='denied'?'denied':''):c.duration<1000?c.duration+' ms':(c.duration/1000).toFixed(1)+' s'))
  d.append(s)
  d.addEventListener('toggle',()=>{if(!d.open||d.children.length>1)return;const b=el('dl','body')
    const row=(k,v,code)=>{if(v===''||v===null||v===undefined||(Array.isArray(v)&&!v.length))return;b.append(el('dt','',k));const dd=el('dd');for(const x of Array.isArray(v)?v:[v])dd.append(el(code?'code':'span','',shown(x)),el('br'));b.append(dd)}
    row('Outcome',names[t]+(c.outcome!=='ok'&&c.outcome!=='denied'&&c.outcome!=='open'?' ('+c.outcome+')':''));row('Decision',c.verdict+(c.reason?': '+c.reason:''));row('Why',c.message);row('Rules',c.rules,1);row('Approved by',c.approver);row('Subject',c.subject,1);row('Exit code',c.exitCode);row('Files',c.files,1);row('Hosts',c.hosts,1);row('Stopped',c.violations.map(v=>v.kind+' '+v.subject+' ('+v.seen+')'),1);row('Labels',c.labels.join(', '));row('Trust',c.trust);row('Injection score',c.injection);row('Agent',c.agent);row('Session',c.session+' #'+c.seq);row('Time',c.time);d.append(b)})
  return d
}
function draw(){
  const rows=index.filter(fits),box=$('calls');box.replaceChildren(...rows.slice(0,state.limit).map(call))
  if(rows.length>state.limit){const more=el('button','more','Show '+(rows.length-state.limit)+' more');more.onclick=()=>{state.limit+=1000;draw()};box.append(more)}
  $('empty').hidden=rows.length>0
  const tally=list=>{const m=new Map;for(const x of list)m.set(x,(m.get(x)||0)+1);return m}
  timeline(rows)
  bars('hosts',tally(rows.flatMap(([c])=>c.hosts)),'No host was reached.')
  bars('files',tally(rows.flatMap(([c])=>c.files)),'No files were recorded.')
  bars('stopped',tally(rows.flatMap(([c,,t])=>t==='denied'?[c.reason||'denied']:c.violations.map(v=>v.subject))),'Nothing was stopped.')
}
const options=(id,values)=>{for(const v of [...new Set(values)].sort())$(id).append(new Option(shown(v),v));if($(id).options.length<3)$(id).hidden=true}
options('tool',data.calls.map(c=>c.tool));options('session',data.calls.map(c=>c.session))
for(const t of Object.keys(names)){const n=index.filter(r=>r[2]===t).length;if(!n)continue;const b=el('button','',names[t]+' '+n);b.setAttribute('aria-pressed','false');b.onclick=()=>{state.tones.has(t)?state.tones.delete(t):state.tones.add(t);b.setAttribute('aria-pressed',state.tones.has(t));draw()};$('chips').append(b)}
$('search').oninput=e=>{state.text=e.target.value.toLowerCase();draw()}
$('tool').onchange=e=>{state.tool=e.target.value;draw()}
$('session').onchange=e=>{state.session=e.target.value;draw()}
if(data.notes.length){$('notes-panel').hidden=false;for(const n of data.notes){const r=el('div','note');r.append(el('span','time',n.time.slice(11,19)),el('b','',n.type),el('code','',shown(JSON.stringify(n.rest))));$('notes').append(r)}}
if(data.damage.length){$('damage-panel').hidden=false;for(const d of data.damage){const r=el('div','note');r.append(el('span','time','line '+d.line),el('b','',d.kind),el('code','',shown(d.message+' ('+d.file+')')));$('damage').append(r)}}
let wait;addEventListener('resize',()=>{clearTimeout(wait);wait=setTimeout(()=>timeline(index.filter(fits)),150)})
draw()
`

/** One call as a person thinks of it: asked, decided, ended. */
interface ReportedCall {
  readonly id: string
  readonly seq: number
  readonly time: string
  readonly session: string
  readonly agent: string
  readonly tool: string
  readonly subject: string
  readonly verdict: string
  readonly reason: string
  readonly message: string
  readonly rules: readonly string[]
  readonly approver: string
  /** `denied`, `open` for a call without a recorded end, or its end. */
  readonly outcome: string
  readonly duration: number | null
  readonly exitCode: number | null
  readonly files: readonly string[]
  readonly hosts: readonly string[]
  readonly violations: readonly AuditViolation[]
  readonly labels: readonly string[]
  readonly trust: string
  readonly injection: number | null
}

export interface ReportFacts {
  readonly lines: readonly AuditLine[]
  readonly verification: readonly SessionVerification[]
  readonly generatedAt: string
  readonly title: string
}

/** The report for programs: the same facts as the page shows. */
export function auditReportJson({ lines, verification, generatedAt, title }: ReportFacts): string {
  return JSON.stringify({ title, generatedAt, sessions: verification, calls: reportedCalls(lines) })
}

/** Joins begin and end lines into calls, in the order they began. */
export function reportedCalls(lines: readonly AuditLine[]): readonly ReportedCall[] {
  const calls = new Map<string, ReportedCall>()
  for (const line of lines) {
    const key = `${line.session} ${String(line.call)}`
    if (line.type === 'begin' || line.type === 'denied') calls.set(key, fromBegin(line))
    const begun = calls.get(key)
    if (line.type === 'end' && begun !== undefined) calls.set(key, withEnd(begun, line))
    if (line.type === 'taint' && begun !== undefined && typeof line.score === 'number')
      calls.set(key, { ...begun, injection: line.score })
    if (line.type === 'approval' && begun !== undefined && line.approved === true)
      calls.set(key, { ...begun, approver: text(line.approver) })
    if (line.type === 'background' && begun !== undefined) calls.set(key, withReach(begun, line))
  }
  return [...calls.values()]
}

function fromBegin(line: AuditLine): ReportedCall {
  const decision = (line.decision ?? {}) as Partial<AuditDecision>
  return {
    id: text(line.call),
    seq: line.seq,
    time: line.time,
    session: line.session,
    agent: text(line.agent),
    tool: text(line.tool),
    subject: text(line.subject) || text(line.summary),
    verdict: text(decision.verdict),
    reason: text(decision.reason),
    message: text(decision.message),
    rules: texts(decision.rules),
    approver: text(decision.approver),
    outcome: line.type === 'denied' ? 'denied' : 'open',
    duration: null,
    exitCode: null,
    files: texts(line.files),
    hosts: texts(line.hosts),
    violations: [],
    labels: texts(line.labels),
    trust: text(line.trust),
    injection: null,
  }
}

/** Adds the reach and the refusals of a call from a later line. */
function withReach(call: ReportedCall, line: AuditLine): ReportedCall {
  const violations = Array.isArray(line.violations) ? (line.violations as AuditViolation[]) : []
  return {
    ...call,
    files: [...new Set([...call.files, ...texts(line.files)])],
    hosts: [...new Set([...call.hosts, ...texts(line.hosts)])],
    violations: [...call.violations, ...violations],
  }
}

function withEnd(call: ReportedCall, line: AuditLine): ReportedCall {
  return {
    ...withReach(call, line),
    outcome: text(line.outcome),
    duration: typeof line.duration_ms === 'number' ? line.duration_ms : null,
    exitCode: typeof line.exit_code === 'number' ? line.exit_code : null,
  }
}

/** The page. Everything in it that came from a log is text, never markup. */
export function auditReport(facts: ReportFacts): string {
  const calls = reportedCalls(facts.lines)
  const damage = facts.verification.flatMap((session) => session.damage)
  const notes = facts.lines.filter((line) =>
    ['mode', 'taint', 'grant', 'approval', 'warning', 'recovered'].includes(line.type),
  )
  const data = {
    calls,
    notes: notes.map(({ time, session, seq, type, prev: _, v: __, ...rest }) => ({ time, session, seq, type, rest })),
    damage,
  }
  const lines = facts.verification.reduce((sum, session) => sum + session.lines, 0)
  const signed = facts.verification.some((session) => session.checkpoints > 0)
  const verdict =
    damage.length === 0
      ? `<p class="seal good"><b>Chain intact.</b> ${count(lines, 'line')} verified${signed ? ', signed checkpoints good' : ', no signed checkpoint yet'}.</p>`
      : `<p class="seal bad"><b>The log was damaged.</b> ${count(damage.length, 'problem')} found; the list is below.</p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escapeHtml(facts.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<div class="brand">cordon <span>audit report</span></div>
<h1>${escapeHtml(facts.title)}</h1>
<p class="meta">${escapeHtml(period(facts.lines))} · written ${escapeHtml(facts.generatedAt)}</p>
${verdict}
</header>
<section class="tiles">${tiles(calls)}</section>
<section class="panel"><h2>Timeline</h2><div id="timeline" role="img" aria-label="Calls over time"></div></section>
<section class="columns">
<div class="panel"><h2>Hosts</h2><div id="hosts" class="bars"></div></div>
<div class="panel"><h2>Files</h2><div id="files" class="bars"></div></div>
<div class="panel"><h2>Stopped</h2><div id="stopped" class="bars"></div></div>
</section>
<section class="panel">
<div class="toolbar">
<h2>Calls</h2>
<input id="search" type="search" placeholder="Search commands, paths, hosts, rules" aria-label="Search">
<select id="tool" aria-label="Tool"><option value="">every tool</option></select>
<select id="session" aria-label="Session"><option value="">every session</option></select>
<div id="chips" class="chips" role="group" aria-label="Outcome"></div>
</div>
<div id="calls"></div>
<p id="empty" hidden>Nothing fits these filters.</p>
</section>
<section class="panel" id="notes-panel" hidden><h2>Also recorded</h2><div id="notes"></div></section>
<section class="panel" id="damage-panel" hidden><h2>Damage</h2><div id="damage"></div></section>
<footer>Arguments appear only where the manifest stores them. Verify this log again with <code>cordon audit verify</code>.</footer>
<script type="application/json" id="data">${scriptSafe(data)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`
}

function tiles(calls: readonly ReportedCall[]): string {
  const number = (fits: (call: ReportedCall) => boolean) => calls.filter(fits).length
  const hosts = new Set(calls.flatMap((call) => call.hosts)).size
  const files = new Set(calls.flatMap((call) => call.files)).size
  const rows: readonly (readonly [number, string, string])[] = [
    [calls.length, 'calls', ''],
    [number((call) => call.outcome === 'ok'), 'went well', 'good'],
    [number((call) => call.outcome === 'denied'), 'denied', 'bad'],
    [number((call) => call.approver !== '' && call.outcome !== 'denied'), 'approved by a person', 'ask'],
    [number((call) => ['failed', 'timeout', 'cancelled', 'fault'].includes(call.outcome)), 'failed', 'warn'],
    [calls.reduce((sum, call) => sum + call.violations.length, 0), 'stopped by the sandbox', 'bad'],
    [hosts, 'hosts', ''],
    [files, 'files', ''],
  ]
  return rows
    .map(([value, label, tone]) => `<div class="tile ${tone}"><b>${value}</b><span>${label}</span></div>`)
    .join('')
}

function period(lines: readonly AuditLine[]): string {
  const [first, last] = [lines[0]?.time, lines.at(-1)?.time]
  if (first === undefined || last === undefined) return 'nothing recorded'
  return `${first.replace('T', ' ').slice(0, 19)} to ${last.replace('T', ' ').slice(0, 19)} UTC`
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** JSON inside a script element: nothing in it may end the element or open a comment. */
function scriptSafe(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
