/** A button that opens the device's choice of files. */
import { useRef, type ReactNode } from 'react'

export function AddFiles({ take }: { take(files: File[]): void }): ReactNode {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => field.current!.click()}>
        Add files
      </button>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        aria-label="Files for the board"
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          // The same file can be chosen again.
          target.value = ''
          if (files.length > 0) take(files)
        }}
      />
    </>
  )
}
