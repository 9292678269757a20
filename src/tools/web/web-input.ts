/** What the tools that fetch take, and what a call of one touches. */

import { type TextProperty, type TextsProperty, text, texts } from '../input-schema.ts'
import type { Actions } from '../tool.ts'

export const webUrl: { readonly url: TextProperty } = { url: text('http or https URL.') }

/** For decisions that are only checked. */
export const standIns: { readonly resolved: TextsProperty; readonly hops: TextsProperty } = {
  resolved: texts('Addresses that stand in for DNS when a decision is only checked.'),
  hops: texts('Redirects that stand in for the wire when a decision is only checked.'),
}

interface WebInput {
  readonly url: string
  readonly method?: string | undefined
  readonly resolved?: readonly string[] | undefined
  readonly hops?: readonly string[] | undefined
}

export function webActions({ url, method, resolved, hops }: WebInput): Actions {
  return {
    url,
    ...(method !== undefined && { method }),
    ...(resolved !== undefined && { resolved }),
    ...(hops !== undefined && { hops }),
  }
}
