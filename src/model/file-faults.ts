/** Errors of the file system as texts that an operator can act on. */

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  EISDIR: 'it is a folder where a file is wanted',
  EEXIST: 'it is a file where a folder is wanted',
  ENOTDIR: 'it lies below a file where a folder is wanted',
};

type SystemFault = { readonly code?: unknown; readonly path?: unknown };

/** For texts such as "could not be read", with the system's code: `: the disk is full (ENOSPC)`. */
export const fileReason = (thrown: unknown): string => {
  const { code } = (thrown ?? {}) as SystemFault;
  if (typeof code !== 'string') return ' (unknown error)';
  return Object.hasOwn(reasons, code) ? `: ${reasons[code]} (${code})` : ` (${code})`;
};

/** Undefined for other errors. */
export const fileFault = (thrown: unknown): string | undefined => {
  const { code, path } = (thrown ?? {}) as SystemFault;
  const known = typeof code === 'string' && Object.hasOwn(reasons, code);
  if (!known) return undefined;
  return `${typeof path === 'string' ? path : 'A file'} cannot be used${fileReason(thrown)}.`;
};
