/**
 * A part of the app that is loaded when it is opened. It fails alone: without the network, or when a new version of the app
 * has replaced its file, the board stays open, with what is not saved.
 */
import { Component, Suspense, type ReactNode } from 'react'

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
      return <Suspense fallback={this.props.fallback}>{this.props.children}</Suspense>
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
