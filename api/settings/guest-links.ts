/** The part for guest links to the boards of a workspace: makes, lists and deletes them. A new link is shown once. */
import { limits } from '../../core/limits.ts'
import { endBoardLink, type BoardLinkRow } from '../../sql/accounts/guests.ts'
import { givenRoles, type GivenRole } from '../../sql/accounts/people.ts'
import type { Transaction } from '../../sql/database.ts'
import { withOperation } from '../../sql/operation.ts'
import { requireLiveBoardOwner } from '../people/owner.ts'
import { makeLink } from '../people/links.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import { ownPage, type OwnVisit, type VisitAnswer } from '../sign-in/visit.ts'
import { uuidPattern } from '../http/schemas.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import { isPair, pairOf, peopleOperation, readPair } from './people-operation.ts'
import { rowAction, table } from './table.ts'
import { time } from './time.ts'
import { choices, faultNews, partUrl, type WorkspacePages, type WorkspacePart } from './workspace-part.ts'

const path = '/settings/workspace/links'
const { password: passwordLength } = limits.guests
const mostDays = 3650
const boardsShown = 500

export const guestLinksPart: WorkspacePart = {
  id: 'links',
  title: 'Guest links',
  show: showLinks,
  pages: (context, shell) => [
    ownPage('POST', path, (visit) => createLink(context, shell, visit)),
    ...actionPages(context, deleting),
  ],
}

type LinkRow = Pick<
  BoardLinkRow,
  'id' | 'name' | 'role' | 'board_id' | 'has_password' | 'expires_at' | 'uses'
> & { board: string }

const readLinks = (tx: Transaction, workspaceId: string, id: string | null = null) => tx<LinkRow[]>`
  select l.id, l.name, l.role, l.board_id, l.has_password, l.expires_at, l.uses, b.name as board
  from board_links l
  join boards b on b.id = l.board_id
  where b.workspace_id = ${workspaceId} and l.ended_at is null and (${id}::uuid is null or l.id = ${id})
  order by l.created_at desc, l.id
  limit 500`

async function createLink(
  { database, clock, passwords }: SignInContext,
  shell: WorkspacePages,
  visit: OwnVisit,
): Promise<VisitAnswer> {
  const { form, request, signedIn } = visit
  const workspaceId = form.get('workspace') ?? ''
  const link = readLink(form, clock.now())
  if (typeof link === 'string') return shell.show(visit, workspaceId, faultNews('links', link))
  const { password, ...given } = link
  // Before the password costs CPU time.
  await database.asUser(signedIn.userId, (tx) => requireLiveBoardOwner(tx, link.boardId))
  const phc = password === null ? null : await passwords.hash(password)
  const { token } = await withOperation(formOperation(request, signedIn, 'link.create', null), () =>
    database.asUser(signedIn.userId, (tx) => makeLink(tx, { ...given, phc })),
  )
  const body = html`<p role="status">
      This is the token of the link. Copy it now. It is not shown again. Put it into the fragment of a URL of
      your application, after the <code>#</code>.
    </p>
    <code class="secret">${token}</code>`
  return shell.show(visit, workspaceId, { section: 'links', body })
}

interface GivenLink {
  boardId: string
  name: string | null
  role: GivenRole
  password: string | null
  history: boolean
  expiresAt: Date | null
}

/** @returns the link to make, or an error message */
function readLink(form: URLSearchParams, now: number): GivenLink | string {
  const boardId = form.get('board') ?? ''
  if (!uuidPattern.test(boardId)) return 'Choose a board.'
  const role = givenRoles.find((one) => one === form.get('role'))
  if (!role) return 'Choose a role.'
  const name = form.get('name')?.trim() || null
  if (name !== null && (Array.from(name).length > limits.name || name.includes('\0')))
    return `Name must have at most ${limits.name} characters.`
  const password = form.get('password') || null
  if (password !== null && (password.length < passwordLength.min || password.length > passwordLength.max))
    return `Password must have ${passwordLength.min} to ${passwordLength.max} characters. Leave it empty for a link without one.`
  const days = form.get('days')?.trim() ?? ''
  if (days !== '' && !(/^\d{1,4}$/.test(days) && Number(days) >= 1 && Number(days) <= mostDays))
    return `Lifetime must be 1 to ${mostDays} days. Leave it empty for a link that works until you delete it.`
  const expiresAt = days === '' ? null : new Date(now + Number(days) * 86_400_000)
  return { boardId, name, role, password, history: form.has('history'), expiresAt }
}

async function showLinks(
  { database }: SignInContext,
  { signedIn, csrf }: OwnVisit,
  workspaceId: string,
): Promise<Html> {
  const { links, boards } = await database.asUser(signedIn.userId, async (tx) => ({
    links: await readLinks(tx, workspaceId),
    boards: await tx<{ id: string; name: string }[]>`
      select id, name from boards
      where workspace_id = ${workspaceId} and deleted_at is null
      order by lower(name), id
      limit ${boardsShown}`,
  }))
  return html`<p class="note">
      A guest link opens one board, without its child boards, for people who have no account.
    </p>
    ${links.length > 0 && linkTable(workspaceId, links)}
    ${boards.length > 0 && linkForm(csrf, workspaceId, boards)}`
}

const linkForm = (csrf: Html, workspaceId: string, boards: readonly { id: string; name: string }[]) =>
  html`<form class="fields" method="post" action="${path}">
    ${csrf}<input type="hidden" name="workspace" value="${workspaceId}" />
    <label
      >Board
      <select name="board" required>
        ${boards.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
      </select></label
    >
    <label>Name, for you <input name="name" maxlength="${limits.name}" /></label>
    ${choices('role', 'Guests are', [
      ['viewer', 'viewers: they read the board'],
      ['editor', 'editors: they change the board'],
    ])}
    <label class="choice"
      ><input type="checkbox" name="history" value="1" /> Guests see the history, from now on</label
    >
    <label>
      Password (empty: none)
      <input
        name="password"
        type="password"
        autocomplete="off"
        minlength="${passwordLength.min}"
        maxlength="${passwordLength.max}"
      />
    </label>
    <label>
      Lifetime in days (empty: until you delete it)
      <input name="days" type="number" min="1" max="${mostDays}" />
    </label>
    <button>Create link</button>
  </form>`

const linkTable = (workspaceId: string, rows: LinkRow[]) =>
  table(rows, [
    { head: 'Board', cell: (row) => row.board },
    { head: 'Name', cell: (row) => row.name ?? '–' },
    { head: 'Role', cell: (row) => row.role },
    { head: 'Password', cell: (row) => (row.has_password ? 'yes' : 'no') },
    { head: 'Guests', cell: (row) => String(row.uses) },
    { head: 'Expires', cell: (row) => time(row.expires_at, 'never') },
    {
      head: 'Action',
      cell: (row) =>
        rowAction(deleting, pairOf(workspaceId, row.id), `the link ${row.name ?? ''} to ${row.board}`),
    },
  ])

const deleting: ConfirmedAction<LinkRow> = {
  path: `${path}/delete`,
  back: (name) => partUrl(readPair(name)[0], 'links'),
  field: 'link',
  label: 'Delete',
  isName: isPair,
  find: (tx, _userId, name) => readLinks(tx, ...readPair(name)),
  ask: ({ board, name }) => ({
    question: `Delete the link ${name === null ? '' : `“${name}” `}to “${board}”?`,
    consequence: 'Its guests lose the board at once.',
    label: 'Delete link',
  }),
  perform({ database }, visit, name) {
    const [workspaceId, id] = readPair(name)
    return withOperation(peopleOperation(visit, 'link.delete', id, workspaceId), () =>
      database.asUser(visit.signedIn.userId, async (tx) => {
        const [link] = await readLinks(tx, workspaceId, id)
        return link ? endBoardLink(tx, link.board_id, id) : false
      }),
    )
  },
}
