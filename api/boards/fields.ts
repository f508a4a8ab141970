/** The fields of a board that clients may write. */
import Type, { type TOptional, type TSchema, type TUnsafe } from 'typebox'
import { flag, nullable, text } from '../http/vocabulary.ts'
import { describedEntries, type describedColumns } from '../../core/board-columns.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { propsFault } from '../../core/card-values.ts'
import { identifiers, props } from '../http/schemas.ts'

export const name = text(`1 to ${limits.boardName} characters, after spaces at both ends are removed.`)

/** The fields that every write of a board accepts, except name, parent and view. */
export const ownFields = {
  ...(Object.fromEntries(
    describedEntries.map(([name, { json, asks }]) => {
      const schema: TSchema = nullable(Type.Unsafe({ ...json, description: asks }))
      return [name, Type.Optional(schema)]
    }),
  ) as { [Name in keyof typeof describedColumns]: TOptional<TUnsafe<string | null>> }),
  notify: Type.Optional(flag('`false`: nobody is notified of the change of schedule.')),
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(nullable(identifiers)),
}

/** @param where how messages name the object, such as `boards[3].`; empty for a single one */
export function trimmedName(given: string, most: number, where = ''): string {
  const trimmed = given.trim()
  if (trimmed === '') throw badRequest(`${where}name must not be empty.`)
  if (Array.from(trimmed).length > most) throw badRequest(`${where}name must be at most ${most} characters.`)
  return trimmed
}

export function requireSchedule(
  date: string | null | undefined,
  end: string | null | undefined,
  where = '',
): void {
  for (const [field, value] of Object.entries({ scheduled_date: date, scheduled_end: end })) {
    if (value?.startsWith('0000')) throw badRequest(`${where}${field} must be a valid date.`)
  }
  if (!end) return
  if (!date) throw badRequest(`${where}scheduled_end needs a scheduled_date.`)
  if (end < date) throw badRequest(`${where}scheduled_end must not be before scheduled_date.`)
}

export function requireProps(given: unknown, where = ''): void {
  if (given === undefined || given === null) return
  const fault = propsFault(given)
  if (fault) throw badRequest(`${where}props: ${fault}.`)
}
