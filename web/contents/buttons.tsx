/** Buttons that open a file, or save it on this device. */
import { useState, type ReactNode } from 'react'
import { readFile } from '../service/api.ts'

interface FileButtonProps {
  fileKey: string
  name: string
}

/** Saves a file on this device, under its own name. */
export function Download({ fileKey, name }: FileButtonProps): ReactNode {
  return <FileButton says="Download" name={name} act={async () => saveAs(await readFile(fileKey), name)} />
}

/**
 * Shows a PDF in a tab of its own, by the browser's viewer. In the page it would need a frame and a plug-in, and the app's
 * policy allows neither.
 */
export function OpenPdf({ fileKey, name }: FileButtonProps): ReactNode {
  const open = async () => {
    // Opened at once: later the browser would take it for an advertisement.
    const tab = window.open('', '_blank')
    try {
      // Whatever the file is, the browser takes it for a PDF, and never for a page of the app.
      const bytes = new Blob([await readFile(fileKey)], { type: 'application/pdf' })
      tab?.location.replace(URL.createObjectURL(bytes))
    } catch (error) {
      tab?.close()
      throw error
    }
  }
  return <FileButton says="Open" name={name} act={open} />
}

function FileButton({ says, name, act }: { says: string; name: string; act(): Promise<void> }): ReactNode {
  const [state, setState] = useState<{ isBusy: boolean; fault: string | null }>({
    isBusy: false,
    fault: null,
  })
  const press = async () => {
    setState({ isBusy: true, fault: null })
    const fault = await act().then(
      () => null,
      (error: Error) => error.message,
    )
    setState({ isBusy: false, fault })
  }
  return (
    <>
      <button type="button" className="nodrag plain" disabled={state.isBusy} onClick={() => void press()}>
        {state.isBusy ? 'Fetching…' : says}
        <span className="hidden"> {name}</span>
      </button>
      {state.fault !== null && (
        <p className="quiet" role="alert">
          {state.fault}
        </p>
      )}
    </>
  )
}

function saveAs(bytes: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(bytes)
  link.download = name
  link.click()
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
