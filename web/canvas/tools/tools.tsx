/** What one does with cards, and what others do: loaded when the board is drawn. */
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react'
import { Panel } from '@xyflow/react'
import type { Place } from '../../../client/editor/index.ts'
import { Later, part } from '../../controls/later.tsx'
import { boundsOf, boxOf, type Box } from '../geometry.ts'
import { CardMenu } from './card-menu.tsx'
import { Cursors } from './cursors.tsx'
import { MiniMap } from './minimap.tsx'
import { useSurface } from '../surface.ts'
import { Following } from './following.tsx'
import { Glow } from './glow.tsx'
import { Notice } from './notice.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Selections, useShownSelection } from './selections.tsx'
import { useClipboard } from './use-clipboard.ts'
import { useDoubleClick } from './use-double-click.ts'
import { useKeys } from './use-keys.ts'
import { useLongPress } from './use-long-press.ts'

const Arrange = part(async () => (await import('./arrange.tsx')).Arrange)
const KeyHelp = part(async () => (await import('./key-help.tsx')).KeyHelp)

/** What one may need first when the network is away, and it is too late to load it. */
const loadAhead = () =>
  Promise.allSettled([
    import('../handles.tsx'),
    import('../arriving.tsx'),
    import('../../files/tray.tsx'),
    import('../../files/carrier.ts'),
  ])

export interface ToolsProps {
  selected: ReadonlySet<string>
  following: string | null
  follow(who: string | null): void
  addCard(at: Place): void
  fit(box?: Box): void
}

export function Tools({ selected, following, follow, addCard, fit }: ToolsProps): ReactNode {
  const { board, canEdit, editing, select } = useSurface()
  const [opened, open] = useState<'arrange' | 'help' | null>(null)
  const [notice, say] = useState<string | null>(null)
  const fitSelected = useCallback(() => {
    const boxes = [...selected].flatMap((id) => board.cards.find(id) ?? []).map((card) => boxOf(card, card))
    fit(boundsOf(boxes) ?? undefined)
  }, [board, selected, fit])
  const deselect = useCallback(() => {
    select([])
    follow(null)
  }, [select, follow])
  const clipboard = useClipboard(selected, say)
  const actions = useMemo(
    () => ({ addCard, fit: fitSelected, deselect, help: () => open('help') }),
    [addCard, fitSelected, deselect],
  )
  useKeys(selected, actions)
  useLongPress(selected)
  useDoubleClick()
  useEffect(() => void loadAhead(), [])
  useShownSelection(selected)
  const close = useCallback(() => open(null), [])
  return (
    <>
      <MiniMap />
      <Cursors />
      <Selections />
      <Glow />
      <CardMenu selected={selected} />
      {canEdit && selected.size > 0 && editing === null && opened === null && (
        <SelectionBar {...{ selected, clipboard }} arrange={() => open('arrange')} />
      )}
      {opened === null && (
        <Panel position="bottom-left" className="keys-place">
          <button type="button" className="keys" title="Keys" aria-label="Keys" onClick={actions.help}>
            ?
          </button>
        </Panel>
      )}
      <Later>
        {opened === 'arrange' && <Arrange selected={selected} close={close} say={say} />}
        {opened === 'help' && <KeyHelp close={close} />}
      </Later>
      <Following following={following} follow={follow} />
      {notice !== null && <Notice says={notice} button="Close" close={() => say(null)} isAlert />}
    </>
  )
}
