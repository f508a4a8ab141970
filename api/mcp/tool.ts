/** What a tool is: an operation of the API, in the form in which an agent calls it. */
import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { limits } from '../../core/limits.ts'
import type { Route } from '../http/route.ts'
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
  /**
   * The main fields of the answer, of tools that read and of those whose answer is used further. Agents read what other
   * tools did without a schema, and a schema takes room in their context.
   */
  output?: TObject
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
    output?: TProperties
    call(input: Static<TObject<In>>): RouteInput
    show(answer: never, input: Static<TObject<In>>): Shown
  },
): Tool {
  const { input, output } = definition
  return {
    ...definition,
    input: Type.Object(input, { additionalProperties: false }),
    ...(output ? { output: Type.Object({ notice: Type.String(), ...output }) } : {}),
    show(answer: never, input: never) {
      const shown = definition.show(answer, input)
      return { ...shown, content: { notice, ...shown.content } }
    },
  } as Tool
}

/** Cards that one call writes; their answer has to fit, too. */
export const cardsPerCall = 100

/** `1 card`, `3 cards` */
export const count = (n: number, noun: string) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

export const goOn = ({ has_more, next_offset }: { has_more: boolean; next_offset: number | null }) =>
  has_more ? ` There is more: call again with offset ${String(next_offset)}.` : ''

export const boardsPerCall = Math.min(100, limits.boardsPerRequest)
