import { listWorkspaces as route } from '../../http/identity.ts'
import { items, nextOffset, pageInput } from '../fields.ts'
import { count, goOn, tool } from '../tool.ts'

export const listWorkspaces = tool('list_workspaces', 'List workspaces', {
  description: 'Lists the workspaces that you can see. Each board belongs to one workspace.',
  route,
  input: pageInput(50),
  output: {
    workspaces: items('id, name, created_at.'),
    ...nextOffset,
  },
  call: (query) => ({ query }),
  show: ({ workspaces, offset, has_more, next_offset }) => ({
    said: `${count(workspaces.length, 'workspace')}.${goOn({ has_more, next_offset })}`,
    lines: workspaces,
    content: { workspaces, offset, has_more, next_offset },
  }),
})
