/** The process entry: switches the compile cache on before anything else is loaded, because start-up counts. */

import { enableCompileCache } from 'node:module'

// Beside the bundle, not in a shared temporary folder: cached code is code, and nobody else may write it.
enableCompileCache(`${import.meta.dirname}/.compile-cache`)

void import('./main.ts').then(({ runProcess }) => runProcess())
