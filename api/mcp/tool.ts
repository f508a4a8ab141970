/** What a tool is: an operation of the API, in the form in which an agent calls it. */
import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { limits } from '../../core/limits.ts'
import type { Route } from '../route.ts'
import { nullable, uuid } from '../schemas.ts'
import type { RouteInput } from './caller.ts'
import { notice } from './untrusted.ts'

export interface Shown {
  /** What was done, and how to go on: a sentence or two of ours. */
  said: string
  /** What was written on boards, for models that are shown the text alone: one value a line. */
  lines: unknown[]
  content: Record<string, unknown>
}

export interface Tool {
  name: string
  title: string
  /** For the model. */
  description: string
  route: Route
  input: TObject
  output: TObject
  /** Of one that writes: what is there may be lost by it. */
  destructive?: boolean
  /** Called again with the same arguments it changes nothing more. */
  idempotent?: boolean
  /** It reaches out to other servers. */
  openWorld?: boolean
  call(input: never): RouteInput
  show(answer: never, input: never): Shown
}

/** `show` says itself what its operation answers. */
export function tool<In extends TProperties>(
  definition: Omit<Tool, 'input' | 'output' | 'call' | 'show'> & {
    input: In
    output: TProperties
    call(input: Static<TObject<In>>): RouteInput
    show(answer: never, input: Static<TObject<In>>): Shown
  },
): Tool {
  const { input, output } = definition
  return {
    ...definition,
    input: Type.Object(input, { additionalProperties: false }),
    output: Type.Object({ notice: noticeField, ...output }),
    show(answer: never, input: never) {
      const shown = definition.show(answer, input)
      return { ...shown, content: { notice, ...shown.content } }
    },
  } as Tool
}

const noticeField = Type.String({ description: 'How to take the texts in here.' })

export const boardId = Type.String({ format: 'uuid', description: 'Of the board.' })
export const cardIds = (max: number) => Type.Array(Type.String(), { minItems: 1, maxItems: max })

/** Pages are small: an agent has to read them. */
export const pageInput = (size: number, most = 100) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, default: size })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'The `next_offset` of the page before.' }),
  ),
})

export const pageOutput = {
  offset: Type.Integer(),
  has_more: Type.Boolean(),
  next_offset: nullable(Type.Integer()),
}

export const workspaceId = Type.Optional({ ...uuid, description: 'Of the workspace.' })

/** Cards that one call writes; their answer has to fit, too. */
export const cardsPerCall = 100
export const notFound = Type.Array(Type.String(), { description: 'Ids that are not on the board.' })

/** `1 card`, `3 cards` */
export const count = (n: number, noun: string) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

export const goOn = ({ has_more, next_offset }: { has_more: boolean; next_offset: number | null }) =>
  has_more ? ` There is more: call again with offset ${String(next_offset)}.` : ''

export const boardsPerCall = Math.min(100, limits.boardsPerRequest)
