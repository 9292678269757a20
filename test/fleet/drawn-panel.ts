/** A panel of the dashboard with the answers to its queries. */

export interface Series {
  readonly name: string
  readonly points: readonly (readonly [time: number, value: number])[]
}

export interface DrawnPanel {
  readonly type: string
  readonly title: string
  readonly unit: string
  /** From this value on a number is red. */
  readonly red: number | null
  readonly width: number
  readonly series: readonly Series[]
}
