/**
 * The fields of the tools' schemas. They describe a tool to agents, and validate a call first. The operation validates
 * the values again with its own schema. So limits that a model rarely reaches are not repeated here.
 *
 * A parameter has one `type`. Gemini and several MCP clients refuse tools with `$ref`, `anyOf` or a list of types.
 * An empty string clears a field. Null does too (`nullable`), but `listTools` does not list it.
 */
import Type, { type TSchema } from 'typebox'
import { describedEntries } from '../../core/board-columns.ts'
import { cardFields, kinds, type CardField } from '../../core/card.ts'
import { groupShapes } from '../../core/group.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { id, text } from '../http/vocabulary.ts'

// ---- parameters

export { id, text }
/** The operation refuses an empty list. */
export const listOf = <T extends TSchema>(entry: T, most: number, description: string) =>
  Type.Array(entry, { maxItems: most, description })
export const number = (description: string) => Type.Number({ description })
export const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const clearable = (description: string) => Type.Optional(Type.String({ nullable: true, description }))

export const oneOf = <const Name extends string>(
  names: readonly Name[],
  description: string,
  options: { default?: Name } = {},
) => Type.Unsafe<Name>({ type: 'string', enum: [...names], ...options, description })

export const boardId = id('Id of the board.')
export const workspaceId = Type.Optional(id('Id of the workspace.'))
export const groupId = text('Id of the group, from list_groups.')

export const parentId = Type.String({
  nullable: true,
  description: 'Id of the parent board; root: top level.',
})

export const ifVersion = Type.Optional(text('The version that you read.'))

export const cardIds = (max: number) => listOf(Type.String(), max, 'Ids of cards on the board.')

/** Pages are small, because they must fit the agent's context window. */
export const pageInput = (size: number, most = 100) => ({
  limit: Type.Optional(
    Type.Integer({ maximum: most, default: size, description: 'Most entries to return.' }),
  ),
  offset: Type.Optional(Type.Integer({ description: 'next_offset of the previous page.' })),
})

export const layout = Type.Optional(
  oneOf(layoutNames, 'How the cards are laid out.', { default: 'justified' }),
)

/** Of boards and of cards. */
export const ownData = {
  props: Type.Optional(
    Type.Unsafe<object>({ type: 'object', nullable: true, description: 'Free properties.' }),
  ),
  identifiers: Type.Optional(
    Type.Array(Type.Object({ scope: text('The other system.'), value: text('Its id in that system.') }), {
      nullable: true,
      description: 'All ids in other systems.',
    }),
  ),
}

const { kind: kindField, ...otherFields } = cardFields
export const kind = oneOf(kinds, kindField.tells)

const schemaOf = ({ json, clears, says, tells = says }: CardField): TSchema =>
  typeof json === 'string'
    ? ownData[json]
    : Type.Optional(
        Type.Unsafe({ type: json.type, ...(clears ? { nullable: true } : {}), description: tells }),
      )

export const cardParameters = Object.fromEntries(
  Object.entries<CardField>(otherFields).map(([name, field]) => [name, schemaOf(field)]),
) as Record<keyof typeof otherFields, TSchema>
const { title, body: caption, x, y, w, h } = cardParameters
export const importFields = { title, caption, ...ownData, x, y, w, h }

const describedParameters = Object.fromEntries(
  describedEntries.map(([name, { tells }]) => [name, clearable(tells)]),
)
export const boardFields = {
  view: Type.Optional(oneOf(['canvas', 'list'], 'How the board is shown.')),
  ...describedParameters,
  notify: flag('false: notify nobody of a changed schedule.'),
  ...ownData,
}

export const groupFields = {
  color: clearable('Such as #ffd966.'),
  shape: Type.Optional(oneOf(groupShapes, 'A box, or a line around its cards.')),
  outline: flag('Draws its border.'),
}

// ---- results

/** The description names the fields of the items: it takes a third of the bytes of a schema. */
export const items = (description: string) =>
  Type.Unsafe({ type: 'array', items: { type: 'object' }, description })
export const object = (description: string) => Type.Unsafe({ type: 'object', description })
export const integer = Type.Integer()
export const ids = Type.Array(Type.String())
export const orNull = (type: 'integer' | 'object', description: string) =>
  Type.Unsafe({ anyOf: [{ type }, { type: 'null' }], description })
/** Null after the last page. `has_more` says the same, and needs no schema. */
export const nextOffset = {
  next_offset: Type.Union([integer, Type.Null()]),
}
