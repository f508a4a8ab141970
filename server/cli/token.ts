import type { Command } from 'commander'
import { AccountError, findUser } from '../../sql/accounts/accounts.ts'
import { mintToken, revokeToken, type Scope } from '../../sql/accounts/tokens.ts'
import { answer } from './answer.ts'
import { asService } from './database.ts'
import {
  emailOption,
  examples,
  idOption,
  nameOption,
  rateLimitOption,
  scopesOption,
  someId,
  ttlOption,
} from './options.ts'

interface AddOptions {
  email: string
  name: string
  scopes: Scope[]
  ttlDays?: number
  rateLimit?: number
}

export function tokenCommands(program: Command): void {
  const token = program.command('token').description('access tokens')
  token
    .command('add')
    .description(
      'Makes a token for an account. The token is shown only once:\n{"user_id","email","token","token_id"}',
    )
    .addOption(emailOption())
    .addOption(nameOption('what the token is for'))
    .addOption(scopesOption(['read']))
    .addOption(ttlOption())
    .addOption(rateLimitOption())
    .addHelpText(...examples('token add --email ada@example.com --name backup --scopes read --ttl-days 90'))
    .action(async ({ email, name, scopes, ttlDays, rateLimit }: AddOptions) => {
      const made = await asService(async (tx) => {
        const userId = await findUser(tx, email)
        return { userId, ...(await mintToken(tx, { userId, name, scopes, ttlDays, rateLimit })) }
      })
      answer({ user_id: made.userId, email, token: made.token, token_id: made.tokenId })
    })

  token
    .command('revoke')
    .description(
      'Revokes a token. Every process refuses it within 1 second and closes its sockets within 2 seconds:\n{"token_id","revoked"}',
    )
    .addOption(idOption('--id <token-id>', 'id of the token, from the output of `user add` or `token add`'))
    .addHelpText(...examples(`token revoke --id ${someId}`))
    .action(async ({ id }: { id: string }) => {
      await asService(async (tx) => {
        if (!(await revokeToken(tx, id)))
          throw new AccountError(`Token ${id} does not exist or is already revoked.`)
      })
      answer({ token_id: id, revoked: true })
    })
}
