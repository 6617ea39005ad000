/** Numbers of the channels of `*.channel.k8s.io`: the first byte of each message. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
