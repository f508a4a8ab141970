/** An action on a row of a section. A page asks for confirmation first, and its form performs the action. */
import type { Transaction } from '../../sql/database.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { ownPage, type OwnVisit, type PageRoute } from '../sign-in/visit.ts'
import { confirmationPage, type Confirmation } from './confirmation.ts'
import type { RowAction } from './table.ts'

export interface ConfirmedAction<Row> extends RowAction {
  /** The local URL to return to, such as `/settings#api`. The name may be any text. */
  back(name: string): string
  /** Whether a row can have this name. */
  isName(name: string): boolean
  find(tx: Transaction, userId: string, name: string): Promise<Row[]>
  ask(row: Row): Pick<Confirmation, 'question' | 'consequence' | 'label'>
  perform(context: SignInContext, visit: OwnVisit, name: string): Promise<unknown>
}

/** The page that asks, and the one that its form is sent to. For an unknown row both lead back. */
export function actionPages<Row>(context: SignInContext, action: ConfirmedAction<Row>): PageRoute[] {
  const { path, field } = action
  const backTo = (name: string) => ({ redirect: action.back(name) })
  return [
    ownPage('GET', path, async ({ query, csrf, signedIn: { userId } }) => {
      const name = query.get(field) ?? ''
      if (!action.isName(name)) return backTo(name)
      const [row] = await context.database.asUser(userId, (tx) => action.find(tx, userId, name))
      if (!row) return backTo(name)
      const confirmation = {
        ...action.ask(row),
        action: path,
        fields: { [field]: name },
        back: action.back(name),
      }
      return confirmationPage(confirmation, csrf)
    }),
    ownPage('POST', path, async (visit) => {
      const name = visit.form.get(field) ?? ''
      if (action.isName(name)) await action.perform(context, visit, name)
      return backTo(name)
    }),
  ]
}
