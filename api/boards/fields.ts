/** The fields of a board that a write may carry. */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { propsFault } from '../../core/card-values.ts'
import { identifiers, nullable, props } from '../http/schemas.ts'

const date = (description: string) =>
  Type.Optional(
    nullable(Type.String({ format: 'date', description: `${description} \`YYYY-MM-DD\`. Null clears it.` })),
  )

export const name = Type.String({
  description: `1 to ${limits.boardName} characters, after spaces at both ends are removed.`,
})

export const scheduleFields = {
  scheduled_date: date('The day that the board is scheduled for.'),
  scheduled_end: date('The last day, if there are several. Needs a `scheduled_date`.'),
  day_label: Type.Optional(
    nullable(
      Type.String({
        maxLength: limits.dayLabel,
        description: 'The name of the scheduled day, such as `Day 3`. Null clears it.',
      }),
    ),
  ),
  notify: Type.Optional(
    Type.Boolean({ description: '`false`: nobody is notified of the change of schedule.' }),
  ),
}

export const freeFields = {
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(nullable(identifiers)),
}

/** @param where how the board is named in messages, such as `boards[3].`; empty for a single one */
export function trimmedName(given: string, where = ''): string {
  const trimmed = given.trim()
  if (trimmed === '') throw new ServiceError('bad_request', `${where}name must not be empty.`)
  if (Array.from(trimmed).length > limits.boardName) {
    throw new ServiceError('bad_request', `${where}name must be at most ${limits.boardName} characters.`)
  }
  return trimmed
}

export function requireSchedule(
  date: string | null | undefined,
  end: string | null | undefined,
  where = '',
): void {
  for (const [field, value] of Object.entries({ scheduled_date: date, scheduled_end: end })) {
    if (value?.startsWith('0000'))
      throw new ServiceError('bad_request', `${where}${field} must be a valid date.`)
  }
  if (!end) return
  if (!date) throw new ServiceError('bad_request', `${where}scheduled_end needs a scheduled_date.`)
  if (end < date)
    throw new ServiceError('bad_request', `${where}scheduled_end must not be before scheduled_date.`)
}

export function requireProps(given: unknown, where = ''): void {
  if (given === undefined || given === null) return
  const fault = propsFault(given)
  if (fault) throw new ServiceError('bad_request', `${where}props: ${fault}.`)
}
