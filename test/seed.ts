/** Set-up of tests with properties: what fast-check makes up is the same in every run. */

import fc from 'fast-check'

fc.configureGlobal({ seed: 20261116 })
