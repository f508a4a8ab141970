/** An archive can't be read or written. The message is one line for the operator. */
export class ArchiveError extends Error {}
