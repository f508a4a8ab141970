/** Times, in the language and the time zone of the person. */
import type { ReactNode } from 'react'

const formats = {
  day: new Intl.DateTimeFormat(undefined, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  }),
  date: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }),
  time: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  both: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  exact: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
}

export const timeText = (at: string, as: keyof typeof formats = 'both'): string =>
  formats[as].format(new Date(at))

export const When = ({ at, as = 'both' }: { at: string; as?: keyof typeof formats }): ReactNode => (
  <time dateTime={at} title={timeText(at, 'exact')}>
    {timeText(at, as)}
  </time>
)
