/**
 * A part of the app that is loaded when it is opened. It fails alone: without the network, or when a new version of the app
 * has replaced its file, the board stays open, with what is not saved.
 */
import { Component, lazy, Suspense, type ComponentType, type ReactNode } from 'react'
import { whenOnline } from '../service/when-online.ts'

/**
 * Makes a component of a part that is loaded when it is first shown. Without the network it waits until that is back, since
 * React would keep the failure.
 */
export const part = <Props,>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: await whenOnline(load) }))

interface LaterProps {
  children: ReactNode
  /** Shown while it is loaded. */
  fallback?: ReactNode
}

export class Later extends Component<LaterProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    if (!this.state.hasFailed)
      return <Suspense fallback={this.props.fallback ?? <Waiting />}>{this.props.children}</Suspense>
    return (
      <div className="banner">
        <p role="alert">This part of the app could not be loaded. Check the network, and reload the page.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    )
  }
}

/** A part that is on its way is shown in a moment. Without the network it is not. */
function Waiting(): ReactNode {
  if (navigator.onLine) return null
  return (
    <p className="banner" role="status">
      You are offline. This part of the app opens when the network is back.
    </p>
  )
}
