/**
 * For each user of minted sessions the account whose shares of queues they use: the owner of the workspace. So nobody
 * gets more turns by minting sessions for more users.
 */
const payers = new Map<string, string>()
const mostUsers = 100_000

/** Stores who pays for a user. The user of longest ago is forgotten when there are too many. */
export function setPayer(user: string, payer: string): void {
  payers.delete(user)
  payers.set(user, payer)
  if (payers.size > mostUsers) payers.delete(payers.keys().next().value!)
}

/** The account whose share an account uses: its own, or that of its payer. */
export const payerOf = (account: string): string => payers.get(account) ?? account
