/** Time spans as users type them: `30m`, `2h`, `3d`. */

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns undefined for an invalid span. */
export const spanMs = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * units[unit]!;
};

/** Milliseconds as a clock: `0:41`, `1:02:03`. */
export const clock = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const two = (count: number): string => String(count).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};
