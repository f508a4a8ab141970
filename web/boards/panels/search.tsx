/** Search over all boards and cards, by the keyboard alone. Without words it shows the boards that were opened last. */
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { Dialog } from '../../controls/dialog.tsx'
import { search, type Found } from '../../service/boards.ts'
import { boardsOf, useDesk, type Desk } from '../desk.ts'

interface Result {
  id: string
  boardId: string
  cardId?: string
  title: string
  /** What is shown below the title. */
  detail: string
}

const fewestLetters = 2
const pauseMs = 150

export function Search({ close }: { close(): void }): ReactNode {
  const desk = useDesk()
  const [words, setWords] = useState('')
  const { found, fault, isBusy } = useFound(words.trim())
  const [at, setAt] = useState(0)
  const results = found ? resultsOf(found, desk) : recentOf(desk)
  const chosen = results[Math.min(at, results.length - 1)]
  /** Enter was pressed while the answer was under way. */
  const [isGoing, setGoing] = useState(false)
  const go = ({ boardId, cardId }: Result) => {
    close()
    desk.open(boardId, cardId)
  }
  useEffect(() => {
    if (!isGoing || isBusy) return
    setGoing(false)
    if (chosen) go(chosen)
  })
  const onKey = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: results.length - 1 }
    const step = steps[event.key]
    if (step !== undefined && results.length > 0) setAt((at + step) % results.length)
    else if (event.key === 'Enter' && (isBusy || chosen)) setGoing(true)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search" className="search" close={close}>
      <input
        role="combobox"
        aria-label="Search boards and cards"
        aria-expanded="true"
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={chosen && idOf(chosen)}
        placeholder="Search boards and cards"
        maxLength={200}
        value={words}
        onKeyDown={onKey}
        onChange={({ target }) => {
          setWords(target.value)
          setAt(0)
          setGoing(false)
        }}
      />
      <Says {...{ words: words.trim(), fault, isBusy, results }} />
      <ul id="found" role="listbox" aria-label="Results">
        {results.map((result) => (
          <Option key={result.id} {...{ result, go }} isChosen={result === chosen} />
        ))}
      </ul>
    </Dialog>
  )
}

const idOf = ({ id }: Result) => `found-${id}`

interface OptionProps {
  result: Result
  isChosen: boolean
  go(result: Result): void
}

function Option({ result, isChosen, go }: OptionProps): ReactNode {
  const option = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isChosen) option.current!.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <li ref={option} id={idOf(result)} role="option" aria-selected={isChosen} onClick={() => go(result)}>
      <strong>{result.title}</strong>
      <span className="quiet">{result.detail}</span>
    </li>
  )
}

interface SaysProps {
  words: string
  fault: string | null
  isBusy: boolean
  results: Result[]
}

function Says({ words, fault, isBusy, results }: SaysProps): ReactNode {
  if (fault !== null) return <p role="alert">{fault}</p>
  const says = () => {
    if (words.length < fewestLetters)
      return results.length > 0 ? 'The boards that you opened last.' : 'Type two letters or more.'
    if (isBusy) return 'Searching…'
    const count = results.length === 1 ? '1 result.' : `${results.length} results.`
    return results.length > 0 ? count : `Nothing is called “${words}”, and no card has these words.`
  }
  return (
    <p className="quiet" role="status">
      {says()}
    </p>
  )
}

/** What the service finds, after a pause in the typing. */
function useFound(words: string) {
  const [state, setState] = useState<{ words: string; found: Found | null; fault: string | null } | null>(
    null,
  )
  const isWanted = words.length >= fewestLetters
  useEffect(() => {
    if (!isWanted) return
    let isOver = false
    const show = (found: Found | null, fault: string | null) => {
      if (!isOver) setState({ words, found, fault })
    }
    const timer = setTimeout(() => {
      search(words).then(
        (found) => show(found, null),
        (error: unknown) => show(null, (error as Error).message),
      )
    }, pauseMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [words, isWanted])
  if (!isWanted) return { found: null, fault: null, isBusy: false }
  // Until the next answer comes, the last one stays.
  return {
    found: state?.found ?? { boards: { items: [] }, cards: { items: [] } },
    fault: state?.fault ?? null,
    isBusy: state?.words !== words,
  }
}

function resultsOf({ boards, cards }: Found, { places }: Desk): Result[] {
  const names = new Map(boardsOf(places).map(({ id, name }) => [id, name]))
  return [
    ...boards.items.map(({ id, name }) => ({ id, boardId: id, title: name, detail: 'Board' })),
    ...cards.items.map(({ id, board_id: boardId, kind, title, excerpt }) => ({
      id: `${boardId}-${id}`,
      ...{ boardId, cardId: id },
      title: title || excerpt.slice(0, 60) || `A ${kind} without words`,
      detail: `${names.get(boardId) ?? 'Another board'}${title && excerpt ? ` · ${excerpt.slice(0, 120)}` : ''}`,
    })),
  ]
}

function recentOf({ places, recent }: Desk): Result[] {
  const boards = new Map(boardsOf(places).map((board) => [board.id, board]))
  return recent.flatMap((id) => {
    const board = boards.get(id)
    return board ? [{ id, boardId: id, title: board.name, detail: 'Board' }] : []
  })
}
