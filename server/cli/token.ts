import type { Command } from 'commander'
import { AccountError, findUser } from '../../sql/accounts/accounts.ts'
import { mintToken, revokeToken, type Scope } from '../../sql/accounts/tokens.ts'
import type { Transaction } from '../../sql/database.ts'
import { answer } from './answer.ts'
import { showCommand } from './command.ts'
import { asService } from './database.ts'
import {
  emailOption,
  examples,
  idOption,
  nameOption,
  rateLimitOption,
  scopesOption,
  someEmailOption,
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

  showCommand(token, {
    name: 'list',
    description:
      'Lists the tokens that work, also those of service accounts and applications:\n{"tokens":[{"token_id","email","name",…}]}',
    options: [someEmailOption('only the tokens of this account')],
    examples: ['token list', 'token list --email ada@example.com --json'],
    run: ({ email = null }: { email?: string | null }) =>
      asService(async (tx) => ({
        tokens: await readTokens(tx, email === null ? null : await findUser(tx, email)),
      })),
  })
}

const readTokens = (tx: Transaction, userId: string | null) => tx`
  select t.id as token_id, case when s.id is null then u.email end as email, t.name, t.prefix,
    case when s.id is not null then 'service account' when t.grant_id is not null then 'application' else 'personal' end as kind,
    t.scopes, t.created_at, t.expires_at, t.last_used_at
  from tokens t
  join users u on u.id = t.user_id
  left join service_accounts s on s.id = u.id
  where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    and (${userId}::uuid is null or t.user_id = ${userId})
  order by u.email, t.created_at, t.id`
