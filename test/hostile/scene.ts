/** The accounts of a hostile run. They are made once, and each attack starts with the same state. */
import { addUser, shareBoard } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import type { ServiceProcess } from '../support/service-process.ts'

interface Service {
  url: string
  /** Process id of PostgreSQL, for attacks that freeze its processes. */
  dataDir: string
}

/** All accounts of a run. */
export interface Accounts extends Service {
  /** One for each attack. */
  attackers: Account[]
  /** May read the attackers' boards and the tenant's board. */
  guest: Account
  tenant: Account & { cardIds: string[]; pictureKeys: string[] }
}

/** The accounts and boards that one attack uses. */
export interface Scene extends Omit<Accounts, 'attackers'> {
  attacker: Account
}

export const sceneOf = ({ attackers, ...others }: Accounts, attack: number): Scene => ({
  ...others,
  attacker: attackers[attack]!,
})

export interface Account {
  workspaceId: string
  boardId: string
  /** Any account may make several tokens; each has the default rate. */
  tokens: string[]
}

/** Makes the accounts and the boards of the second tenant before the measurements. */
const tenantCards = 40
const tenantPictures = 20
const attackerTokens = 8

export async function makeAccounts(
  service: ServiceProcess,
  attackerCount: number,
  picture: (n: number) => Promise<Buffer>,
): Promise<Accounts> {
  const { attackers, guest, tenant } = await service.withDatabase((database) =>
    database.asSystem(async (tx) => {
      const account = async (name: string, tokens: number, rateLimit?: number) => {
        const { userId, workspaceId } = await addUser(tx, {
          email: `${name}@example.test`,
          name,
          tier: 'free',
        })
        const minted: string[] = []
        for (let n = 0; n < tokens; n++) {
          const { token } = await mintToken(tx, {
            userId,
            name: `${name} ${n}`,
            scopes: ['read', 'write', 'delete'],
            rateLimit,
          })
          minted.push(token)
        }
        return { userId, workspaceId, tokens: minted, boardId: '' }
      }
      const attackers: Awaited<ReturnType<typeof account>>[] = []
      for (let n = 0; n < attackerCount; n++) attackers.push(await account(`attacker${n}`, attackerTokens))
      return {
        attackers,
        guest: await account('guest', 2),
        // The prober sends more requests than a tenant's hourly limit.
        tenant: await account('tenant', 1, 100_000),
      }
    }),
  )
  const call = async (token: string, method: string, path: string, body: object | Buffer) => {
    const bytes = Buffer.isBuffer(body)
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': bytes ? 'image/png' : 'application/json',
      },
      body: bytes ? Uint8Array.from(body) : JSON.stringify(body),
    })
    const answer = (await response.json()) as any
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  for (const account of [...attackers, guest, tenant]) {
    const { board } = await call(account.tokens[0]!, 'POST', '/boards', { name: 'First' })
    account.boardId = board.id
  }
  await service.withDatabase((database) =>
    database.asSystem(async (tx) => {
      for (const { boardId } of [...attackers, tenant])
        await shareBoard(tx, { boardId, userId: guest.userId, role: 'viewer' })
    }),
  )
  const [token = ''] = tenant.tokens
  const { cards } = await call(token, 'POST', `/boards/${tenant.boardId}/cards`, {
    cards: Array.from({ length: tenantCards }, (_, n) => ({
      kind: 'note',
      title: `Lantern ${n}`,
      body: 'A lantern hangs above the door of the old mill. '.repeat(8),
      x: (n % 8) * 300,
      y: Math.floor(n / 8) * 200,
    })),
  })
  const pictureKeys: string[] = []
  for (let n = 0; n < tenantPictures; n++) {
    const { image_key } = await call(token, 'POST', `/uploads?board=${tenant.boardId}`, await picture(n))
    pictureKeys.push(image_key)
  }
  return {
    url: service.url,
    dataDir: service.dataDir,
    attackers,
    guest,
    tenant: { ...tenant, cardIds: cards.map(({ id }: { id: string }) => id), pictureKeys },
  }
}
