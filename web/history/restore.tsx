/** Brings the board, or some of its cards, back to a moment. It shows first what would be done. */
import { useState, type ReactNode } from 'react'
import { useAction } from '../controls/ask.tsx'
import { count } from '../controls/count.ts'
import { Shown } from '../controls/loading.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { timeText } from '../controls/when.tsx'
import { request } from '../service/request.ts'
import { doingOf, type BroughtBack } from './changes.ts'
import type { Moment } from './moment.ts'
import { Step } from './step.tsx'

interface RestoreProps {
  boardId: string
  moment: Moment
  titleOf(id: string): string
  back(): void
  done(): Promise<void>
}

export function Restore({ boardId, moment, titleOf, back, done }: RestoreProps): ReactNode {
  const restore = (body: { dry_run?: boolean; card_ids?: string[] }) =>
    request('POST /boards/{id}/restore-to', { path: { id: boardId }, body: { as_of: moment.asOf, ...body } })
  const preview = useLoaded(moment.asOf, () => restore({ dry_run: true }))
  /** Without it, a card that somebody adds meanwhile would be removed unseen. */
  const requireSame = async (shown: BroughtBack[]) => {
    const { changes } = await restore({ dry_run: true })
    if (namesOf(changes) === namesOf(shown)) return
    await preview.reload()
    throw new Error('The board has changed meanwhile. Look at the new list, then restore.')
  }
  return (
    <Step title={`Restore ${moment.name ?? timeText(moment.at)}`} back={back}>
      <Shown of={preview}>
        {({ changes, skipped }) =>
          changes.length === 0 ? (
            <p>The board is like this now. There is nothing to restore.</p>
          ) : (
            <>
              <Choose
                {...{ changes, titleOf }}
                restore={async (ids) => {
                  if (ids === null) await requireSame(changes)
                  await restore(ids === null ? {} : { card_ids: ids })
                  await done()
                }}
              />
              {skipped.length > 0 && (
                <p className="quiet">
                  {count(skipped.length, 'card')} left as it is: moved between boards, or its past was removed
                  for good.
                </p>
              )}
            </>
          )
        }
      </Shown>
    </Step>
  )
}

const namesOf = (changes: BroughtBack[]) =>
  changes
    .map(({ type, id }) => `${type} ${id}`)
    .toSorted()
    .join()

interface ChooseProps {
  changes: BroughtBack[]
  titleOf(id: string): string
  /** @param ids of the chosen cards. Null: everything */
  restore(ids: string[] | null): Promise<void>
}

function Choose({ changes, titleOf, restore }: ChooseProps): ReactNode {
  const cards = changes.filter(({ type }) => type === 'card')
  const groups = changes.length - cards.length
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const { run, isBusy, fault } = useAction()
  const chosen = cards.filter(({ id }) => !left.has(id))
  const toggle = (id: string) =>
    setLeft(new Set(left.has(id) ? [...left].filter((one) => one !== id) : [...left, id]))
  const label = left.size === 0 ? 'Restore the board' : `Restore ${count(chosen.length, 'card')}`
  return (
    <>
      <p>
        It is a new change: everybody on the board sees it, and it can be undone. What you clear here stays as
        it is.
      </p>
      <ul className="rows" aria-label="What is restored">
        {cards.map((change) => (
          <li key={change.id}>
            <label className="inline">
              <input type="checkbox" checked={!left.has(change.id)} onChange={() => toggle(change.id)} />
              <span>
                <strong>{titleOf(change.id)}</strong> <span className="quiet">{doingOf(change)}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {groups > 0 && <p className="quiet">With the groups: {count(groups, 'group')}.</p>}
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      <button
        type="button"
        className="main"
        disabled={isBusy || (left.size > 0 && chosen.length === 0)}
        onClick={() => void run(() => restore(left.size === 0 ? null : chosen.map(({ id }) => id)))}
      >
        {label}
      </button>
    </>
  )
}
