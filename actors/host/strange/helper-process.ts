import { answerTo, closeOpened } from './strange-calls.ts';
import type { FromHelper, ToHelper } from './strange-calls.ts';

process.on('message', (message: ToHelper) => {
  if ('close' in message) {
    void closeOpened(message.close);
    return;
  }
  void answerTo(message.id, message.call).then((answer: FromHelper) => process.send?.(answer));
});

// Not exit(), which would wait for the calls that hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
