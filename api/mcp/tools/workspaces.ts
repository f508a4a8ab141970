import Type from 'typebox'
import { listWorkspaces as route } from '../../identity.ts'
import { timestamp, uuid } from '../../schemas.ts'
import { count, goOn, pageInput, pageOutput, tool } from '../tool.ts'

interface Answer {
  workspaces: { id: string; name: string; created_at: string }[]
  offset: number
  has_more: boolean
  next_offset: number | null
}

export const listWorkspaces = tool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description: 'The workspaces that you can see. Boards lie in workspaces.',
  route,
  input: pageInput(50),
  output: {
    workspaces: Type.Array(Type.Object({ id: uuid, name: Type.String(), created_at: timestamp })),
    ...pageOutput,
  },
  call: (query) => ({ query }),
  show: ({ workspaces, offset, has_more, next_offset }: Answer) => ({
    said: `${count(workspaces.length, 'workspace')}.${goOn({ has_more, next_offset })}`,
    lines: workspaces,
    content: { workspaces, offset, has_more, next_offset },
  }),
})
