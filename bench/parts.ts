/** The parts of the bench, in the order of the page of figures. */

export interface Part {
  readonly file: string
  /** A function that prints the tables; null for a program. */
  readonly run: string | null
  /** Programs without which the page says that it was not measured. */
  readonly needs?: readonly string[]
  readonly title: string
  /** What is compared with what, and what a reader must know about the figures. */
  readonly about: string
}

export const PARTS: Readonly<Record<string, Part>> = {
  startup: {
    file: 'startup.ts',
    run: 'benchStartup',
    title: 'Start-up',
    about:
      'Cold processes, without a resident: `cordon` relative to `node -e 0`, a command in a sandbox relative to bubblewrap and to the peers, and the import of the library. Of the time of `cordon run` Node takes about half before the first line runs.',
  },
  resident: {
    file: 'resident.ts',
    run: 'benchResident',
    title: 'Resident',
    about: 'The same commands answered by the background process, which ends after ten idle minutes.',
  },
  decisions: {
    file: 'decisions.ts',
    run: 'benchDecisions',
    title: 'Decisions',
    about:
      'One decision in a warm process, from text to verdict, with file lookups. One in nine commands of real agents also needs `bash -n`, which takes milliseconds.',
  },
  sandbox: {
    file: 'sandbox.ts',
    run: null,
    title: 'Sandbox',
    about: 'One launch, compared with bare bubblewrap with the same namespaces and mounts.',
  },
  session: {
    file: 'session.ts',
    run: 'benchSession',
    title: 'Guarded calls',
    about:
      'Calls of the library. Most of a `read` is the injection scan. `bash true` beats bare bubblewrap where a spare sandbox is ready.',
  },
  agents: {
    file: 'agents.ts',
    run: 'benchAgents',
    title: 'Sessions of real agents',
    about:
      'Fifteen commands and five reads of the real program: bare, with hooks that do nothing, with those and bubblewrap (the floor of any guard), and with Cordon. Agents vary by a tenth to a fifth between rounds.',
  },
  changes: {
    file: 'changes.ts',
    run: null,
    needs: ['cc', 'git'],
    title: 'File broker and undo',
    about:
      'The same work in bare bubblewrap and through the file broker, which keeps everything for undo. `bench/broker-floor.c` is a broker that judges and keeps nothing: the floor.',
  },
  masks: {
    file: 'masks.ts',
    run: null,
    title: 'Masks in a big tree',
    about:
      '100,000 files in 10,000 folders with 200 secrets: what masks and protection add to a command. The goal is 15 ms.',
  },
  egress: {
    file: 'egress.ts',
    run: 'benchEgress',
    needs: ['curl'],
    title: 'Proxy',
    about:
      'Compared with sandbox-runtime. Both proxies terminate TLS with their own authority and verify the origin. The peer creates an RSA key first, whose time is luck. `node bench/egress-soak.ts` streams 10 GB and causes 400 rounds of faults.',
  },
  'first-byte': {
    file: 'first-byte.ts',
    run: 'benchFirstByte',
    needs: ['cc', 'curl'],
    title: 'First byte',
    about: 'From the start of a command to its first byte through the proxy.',
  },
  packages: {
    file: 'packages.ts',
    run: 'benchPackages',
    needs: ['npm', 'git'],
    title: 'Package gate',
    about: '`npm ci` from a registry on loopback, with and without the rules of `[packages]`. The goal is 1.03.',
  },
  tools: {
    file: 'tools.ts',
    run: 'benchTools',
    title: 'File tools',
    about: 'Tools of the library, compared with Node.',
  },
  code: {
    file: 'code.ts',
    run: 'benchCode',
    needs: ['python3'],
    title: 'Code of a model',
    about: 'Programs that a model writes, each compared with the same engine alone.',
  },
  mcp: { file: 'mcp.ts', run: 'benchMcp', title: 'MCP', about: 'Reads through the server and the gateway.' },
  chat: {
    file: 'chat.ts',
    run: 'benchChat',
    needs: ['python3'],
    title: 'Chat',
    about: 'The prompt relative to `node -e 0`, streamed text, and a long session that is resumed.',
  },
  page: {
    file: 'page.ts',
    run: 'benchPage',
    needs: ['chromium'],
    title: 'Page',
    about: 'The local page with a long record.',
  },
  audit: {
    file: 'audit.ts',
    run: null,
    title: 'Audit log',
    about: 'Events with redaction, hash and chain. `fdatasync` costs what the disk takes.',
  },
  scan: {
    file: 'scan.ts',
    run: null,
    title: 'Redactor',
    about: 'Ordinary logs, and lines written to slow the redactor down.',
  },
}
