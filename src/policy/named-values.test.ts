import { expect, it } from 'vitest'
import { namedValues } from './named-values.ts'

it.each([
  [{ path: 'a b' }, ['a b']],
  [{ filepath: '.env' }, ['.env']],
  [{ source: '.env', destination: 'public.txt' }, ['.env', 'public.txt']],
  [{ moves: [{ srcFile: 'id_rsa' }] }, ['id_rsa']],
  [{ what: '.ssh/id_rsa' }, ['.ssh/id_rsa']],
  [{ what: '.env' }, ['.env']],
  [{ what: 'x/../../../etc/passwd' }, ['x/../../../etc/passwd']],
  [{ what: 'file:///a%20b' }, ['/a%20b', '/a b']],
  [{ what: 'a sentence and/or words' }, []],
  [{ title: 'main' }, []],
])('%j names the paths %j', (input, paths) => {
  expect(namedValues(input).paths).toEqual(paths)
})
