/** The type of an MCP tool: an API operation with the name, description, arguments and result that agents see. */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { limits } from '../../core/limits.ts'
import type { AnswerOf, Route, RouteWith } from '../http/route.ts'
import type { RouteInput } from './caller.ts'
import { notice } from './untrusted.ts'

export interface Shown {
  /** One or two sentences of the service's own: what was done, and what to do next. */
  said: string
  /** Data from boards, one value a line, for clients that show the model only the text content. */
  lines: unknown[]
  content: Record<string, unknown>
}

export interface Tool {
  name: string
  title: string
  description: string
  route: Route
  input: TObject
  /**
   * The main fields of the result. Only tools that read have it, and tools whose result is an argument of another tool.
   * Other results need no schema, and each schema takes up context of the agent.
   */
  output?: TObject
  /** For a tool that writes: it may overwrite or delete data. */
  destructive?: boolean
  /** For a tool that writes: a second call with the same arguments changes nothing more. */
  idempotent?: boolean
  /** The tool fetches from other servers. */
  openWorld?: boolean
  call(input: never): RouteInput
  show(answer: never, input: never): Shown
}

/** Makes a tool from its definition. */
export function tool<In extends TProperties, A extends Record<number, TSchema>>(
  name: string,
  title: string,
  definition: Omit<Tool, 'name' | 'title' | 'route' | 'input' | 'output' | 'call' | 'show'> & {
    route: RouteWith<A>
    input: In
    output?: TProperties
    call(input: Static<TObject<In>>): RouteInput
    show(answer: AnswerOf<A>, input: Static<TObject<In>>): Shown
  },
): Tool {
  const { input, output } = definition
  return {
    ...{ name, title },
    ...definition,
    input: Type.Object(input, { additionalProperties: false }),
    ...(output ? { output: Type.Object({ notice: Type.String(), ...output }) } : {}),
    show(answer: never, input: never) {
      const shown = definition.show(answer, input)
      return { ...shown, content: { notice, ...shown.content } }
    },
  } as Tool
}

/** Most cards that one call writes. Their answer must fit the context window, too. */
export const cardsPerCall = 100

/** `1 card`, `3 cards` */
export const count = (n: number, noun: string) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

export const goOn = ({ has_more, next_offset }: { has_more: boolean; next_offset: number | null }) =>
  has_more ? ` There are more: call again with offset ${String(next_offset)}.` : ''

export const boardsPerCall = Math.min(100, limits.boardsPerRequest)
