/**
 * `/login/invitation`: accepts an invitation. Opening it only shows forms, because mail scanners and previews open links
 * before people do. A visitor without a session may sign in, or make the account that the invitation is for. The page is
 * the same whether this account exists.
 */
import { limits } from '../../core/limits.ts'
import { passwordFault } from '../../core/password.ts'
import { addUser } from '../../sql/accounts/accounts.ts'
import { acceptInvitation, findInvitation, type FoundInvitation } from '../../sql/accounts/invitations.ts'
import { setPassword } from '../../sql/accounts/passwords.ts'
import type { SignedIn } from '../../sql/accounts/sessions.ts'
import { AccountError } from '../../sql/accounts/accounts.ts'
import type { Transaction } from '../../sql/database.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import type { SignInContext } from './context.ts'
import { html, type Html } from './html.ts'
import { formOperation } from './operation.ts'
import { newPasswordField } from './password-field.ts'
import { begin, letIn } from './start.ts'
import { openPage, type OpenVisit, type PageRoute, type VisitAnswer } from './visit.ts'

export const invitationPath = '/login/invitation'
const signUpPath = `${invitationPath}/sign-up`

export function invitationPages(context: SignInContext): PageRoute[] {
  const { database } = context
  const withInvitation =
    (field: 'query' | 'form', show: (invited: Invited) => Promise<VisitAnswer> | VisitAnswer) =>
    async (visit: OpenVisit) => {
      const code = visit[field].get('code') ?? ''
      const invitation = await database.asSystem((tx) => findInvitation(tx, code))
      return invitation ? show({ visit, code, invitation }) : noInvitation
    }
  return [
    openPage('GET', invitationPath, withInvitation('query', offer)),
    openPage(
      'POST',
      invitationPath,
      withInvitation('form', (invited) => accept(context, invited)),
    ),
    openPage(
      'POST',
      signUpPath,
      withInvitation('form', (invited) => signUp(context, invited)),
    ),
  ]
}

interface Invited {
  visit: OpenVisit
  code: string
  invitation: FoundInvitation
}

/** Accepts as the account that is signed in. */
async function accept({ database }: SignInContext, invited: Invited): Promise<VisitAnswer> {
  const { visit, code, invitation } = invited
  const { signedIn, request } = visit
  if (!signedIn || !isFor(invitation, signedIn)) return offer(invited)
  const isAccepted = await database.asSystem(async (tx) => {
    const held = await findInvitation(tx, code, true)
    if (!held) return false
    await take(tx, request, held, signedIn)
    return true
  })
  return isAccepted ? accepted(invitation) : noInvitation
}

/** Makes the account with the invited address, accepts, and signs in. */
async function signUp(context: SignInContext, invited: Invited): Promise<VisitAnswer> {
  const { database, passwords } = context
  const { visit, code, invitation } = invited
  const { form, request } = visit
  const { email } = invitation
  if (email === null) return offer(invited)
  const name = (form.get('name') ?? '').trim()
  const password = form.get('password') ?? ''
  const fault = nameFault(name) ?? passwordFault(password)
  if (fault !== null) return offer(invited, fault)
  const phc = await passwords.hash(password)
  const made = await database
    .asSystem(async (tx) => {
      const held = await findInvitation(tx, code, true)
      if (!held) return null
      const { userId } = await addUser(tx, { email, name, tier: 'free' })
      await setPassword(tx, userId, phc)
      const account = { userId, name }
      await recordFor(tx, userId, formOperation(request, account, 'account.create', userId))
      await take(tx, request, held, account)
      return { userId, secret: await begin(context, tx, request, account) }
    })
    .catch((error: unknown) => {
      if (error instanceof AccountError) return 'exists' as const
      throw error
    })
  if (made === 'exists') return offer(invited, `This address has an account already. Sign in instead.`)
  if (!made) return noInvitation
  letIn(context, visit, made.userId, made.secret)
  return accepted(invitation)
}

async function take(
  tx: Transaction,
  request: OpenVisit['request'],
  held: FoundInvitation,
  account: { userId: string; name: string | null },
): Promise<void> {
  await acceptInvitation(tx, held, account.userId)
  const operation = formOperation(request, account, 'invitation.accept', held.id)
  operation.concerns({ type: 'invitation', ids: [held.id], board: held.boardId, workspace: held.workspaceId })
  await recordFor(tx, account.userId, operation)
}

/** An invitation to an address is for the account with this address. */
const isFor = ({ email }: FoundInvitation, signedIn: SignedIn) =>
  email === null || email.toLowerCase() === signedIn.email.toLowerCase()

function nameFault(name: string): string | null {
  const isFit = name !== '' && Array.from(name).length <= limits.name && !/\p{Cc}/u.test(name)
  return isFit ? null : `Your name must have 1 to ${limits.name} characters.`
}

function offer({ visit, code, invitation }: Invited, fault?: string): VisitAnswer {
  const { signedIn, csrf, form } = visit
  const shown = !signedIn
    ? signInOrUp({ csrf, code, email: invitation.email, name: form.get('name') ?? '' })
    : isFor(invitation, signedIn)
      ? acceptForm({ csrf, code, email: signedIn.email })
      : otherAccount(csrf, signedIn.email, invitation.email ?? '')
  const body = html`<main class="narrow">
    <h1>Invitation</h1>
    ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
    <p>${invitation.inviter ?? 'Somebody'} ${offerOf(invitation)}</p>
    ${shown}
  </main>`
  return { title: 'Invitation', body, ...(fault === undefined ? {} : { status: 422 }) }
}

function offerOf({ role, workspace, board }: FoundInvitation): string {
  const what = board === null ? `the workspace “${workspace}”` : `the board “${board}”`
  if (role === 'owner')
    return `wants to make you the owner of ${what}. Its boards then count towards your limits.`
  return `invites you to ${what}, as ${role === 'editor' ? 'an editor' : 'a viewer'}.`
}

const acceptForm = ({ csrf, code, email }: { csrf: Html; code: string; email: string }) =>
  html`<form method="post" action="${invitationPath}">
    ${csrf}<input type="hidden" name="code" value="${code}" />
    <p class="actions"><button>Accept as ${email}</button></p>
  </form>`

const otherAccount = (csrf: Html, email: string, invited: string) =>
  html`<p>It is for ${invited}, and you are signed in as ${email}. Log out, and open the link again.</p>
    <form method="post" action="/logout">${csrf}<button>Log out</button></form>`

function signInOrUp(shown: { csrf: Html; code: string; email: string | null; name: string }): Html {
  const { csrf, code, email, name } = shown
  const next = encodeURIComponent(`${invitationPath}?code=${code}`)
  const signIn = html`<p class="actions"><a class="button" href="/login?next=${next}">Sign in</a></p>`
  if (email === null)
    return html`<p>Sign in to accept. Without an account, ask for an invitation to your e-mail address.</p>
      ${signIn}`
  return html`<h2>With an account</h2>
    ${signIn}
    <h2>Without an account</h2>
    <form method="post" action="${signUpPath}">
      ${csrf}<input type="hidden" name="code" value="${code}" />
      <label
        >E-mail <input name="email" type="email" autocomplete="username" value="${email}" readonly
      /></label>
      <label
        >Name <input name="name" autocomplete="name" required maxlength="${limits.name}" value="${name}"
      /></label>
      ${newPasswordField('password')}
      <button>Make an account and accept</button>
    </form>`
}

const accepted = (invitation: FoundInvitation): VisitAnswer => ({
  title: 'Accepted',
  body: html`<main class="narrow">
    <h1>Accepted</h1>
    <p role="status">${resultOf(invitation)}</p>
    <p>
      <a href="${leadsTo(invitation)}"
        >${invitation.boardId === null ? 'Open the boards' : 'Open the board'}</a
      >
    </p>
    <p><a href="/settings">Go to the settings</a></p>
  </main>`,
})

const leadsTo = ({ boardId }: FoundInvitation) => (boardId === null ? '/app/' : `/app/boards/${boardId}`)

function resultOf({ role, workspace, board }: FoundInvitation): string {
  if (board !== null) return `The board “${board}” is shared with you.`
  if (role === 'owner') return `You own the workspace “${workspace}” now.`
  return `You are a member of the workspace “${workspace}” now.`
}

/** The same page for an invitation that was used or revoked, has expired or never existed. */
const noInvitation: VisitAnswer = {
  status: 410,
  title: 'Invitation does not work',
  body: html`<main class="narrow">
    <h1>This invitation does not work</h1>
    <p>An invitation works once and expires. Ask for a new one.</p>
    <p><a href="/login">Sign in</a></p>
  </main>`,
}
