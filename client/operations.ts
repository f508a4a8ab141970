/** Types of the operations, taken from the generated description: what each takes, and what it answers. */
import type { components, paths, webhooks } from './schema.ts'

type Schemas = components['schemas']
export type Board = Schemas['Board']
export type Card = Schemas['Card']
export type CardInput = Schemas['CardInput']
export type CardPatch = Schemas['CardPatch']
export type Group = Schemas['Group']
export type IndexCard = Schemas['IndexCard']
export type RemovedCard = Schemas['RemovedCard']

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type Path = keyof paths

/** The name of an operation as the documentation has it: `GET /boards`, `PATCH /boards/{id}/cards/{cardId}`. */
export type Operation = {
  [P in Path]: { [M in Method]: paths[P][M] extends object ? `${Uppercase<M>} ${P}` : never }[Method]
}[Path]

type Described<O extends Operation> = O extends `${infer M} ${infer P extends Path}`
  ? paths[P][Lowercase<M> & Method]
  : never

type Parameters<O extends Operation> = Described<O> extends { parameters: infer P } ? P : object
type Content<O extends Operation> =
  Described<O> extends { requestBody?: infer B } ? NonNullable<B>['content' & keyof NonNullable<B>] : never
type Json<C> = C extends { 'application/json': infer B } ? B : Bytes
type BodyField<O extends Operation> = [Content<O>] extends [never]
  ? { body?: undefined }
  : Described<O> extends { requestBody: object }
    ? { body: Json<Content<O>> }
    : { body?: Json<Content<O>> }

/** The bytes of a file. */
export type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>

/** What an operation takes: `path` and `query` parameters, and its `body`. */
export type Input<O extends Operation> = Pick<Parameters<O>, keyof Parameters<O> & ('path' | 'query')> &
  BodyField<O>

type Success = 200 | 201 | 202
type Responses<O extends Operation> = Described<O> extends { responses: infer R } ? R : never
type Body<R> = R extends { content: { 'application/json': infer B } } ? B : Response

/** The body of an operation's success. Operations that answer with bytes have the `Response` itself. */
export type Answer<O extends Operation> = {
  [S in keyof Responses<O> & Success]: Body<Responses<O>[S]>
}[keyof Responses<O> & Success]

type Query<O extends Operation> = NonNullable<Parameters<O> extends { query?: infer Q } ? Q : object>

/** Operations that answer with pages. */
export type ListOperation = {
  [O in Operation]: Extract<Answer<O>, { has_more: boolean }> extends never ? never : O
}[Operation]

/** Operations that can be followed from a moment on. */
export type FeedOperation = {
  [O in ListOperation]: 'since' extends keyof Query<O> ? ('cursor' extends keyof Query<O> ? O : never) : never
}[ListOperation]

type Entries<Page> = Page extends unknown
  ? { [K in keyof Page]-?: Page[K] extends readonly (infer Row)[] ? Row : never }[keyof Page]
  : never

export type Row<O extends ListOperation> = Entries<Answer<O>>
export type FeedRow<O extends FeedOperation> = Entries<Extract<Answer<O>, { next_cursor: unknown }>>

/** The body of a webhook's delivery. `type` says which event it is. */
export type WebhookEvent = {
  [E in keyof webhooks]: webhooks[E] extends {
    post: { requestBody?: { content: { 'application/json': infer B } } }
  }
    ? B
    : never
}[keyof webhooks]

export type ErrorCode = Schemas['Error']['code']
