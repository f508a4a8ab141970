/** The days of a schedule, in the words of the reader's language. */

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** @param from a date without a time, as the schedule has it */
export function span(from: string, to: string | null): string {
  const [first, last] = [new Date(from), new Date(to ?? from)]
  return to === null || to === from ? day.format(first) : day.formatRange(first, last)
}
