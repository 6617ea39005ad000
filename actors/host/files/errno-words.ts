/**
 * What Go says of an errno (`syscall.Errno.Error`), by the code that Node has for it: kubelet's events, answers and logs end with these words.
 * Of files and of connections alike, as there.
 */
export const ERRNO_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  ENOTDIR: 'not a directory',
  EISDIR: 'is a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  EINVAL: 'invalid argument',
  EMFILE: 'too many open files',
  EIO: 'input/output error',
  EPIPE: 'broken pipe',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
};
