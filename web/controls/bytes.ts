const units = ['B', 'KB', 'MB', 'GB', 'TB']

/** `1.2 MB`. A unit is 1,024 of the one before, as in the limits of the plans. */
export function bytesText(bytes: number): string {
  const unit = Math.min(units.length - 1, bytes < 1024 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${units[unit]}`
}
