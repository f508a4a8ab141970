import type { Operation } from '../../sql/operation.ts'
import { formOperation } from '../sign-in/operation.ts'
import type { OwnVisit } from '../sign-in/visit.ts'

/** The audit entry of a form about who has access. It names the workspace, whose owner reads it. */
export function peopleOperation(
  { request, signedIn }: OwnVisit,
  action: string,
  id: string,
  workspace: string,
): Operation {
  const operation = formOperation(request, signedIn, action, id)
  operation.concerns({ type: action.split('.', 1)[0]!, ids: [id], workspace })
  return operation
}

/** A name for a form that is about something in a workspace: `<id of the workspace>.<id>`. */
export const pairOf = (workspace: string, id: string) => `${workspace}.${id}`
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const pair = new RegExp(`^(${uuid})\\.(${uuid})$`)
export const isPair = (name: string) => pair.test(name)
export const readPair = (name: string) => name.split('.') as [workspace: string, id: string]
