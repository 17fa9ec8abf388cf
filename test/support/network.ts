import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Two machines with a cable between them, as Linux can simulate them; they go with the test. */
export type Network = {
  /** Where the near machine is reached, from either. */
  readonly address: string;
  /** Starts a module on one of the machines. */
  start(machine: Machine, module: URL, args: readonly string[]): ChildProcess;
  /** From now on nothing that the far machine sends arrives, not even that a connection has ended. */
  cut(): void;
  /** How often the near machine sends again what is not acknowledged, before it gives a connection up. */
  setRetries(count: number): void;
};

type Machine = 'near' | 'far';

const NEAR = '10.200.0.1';
const FAR = '10.200.0.2';
const FAR_CARD = '02:00:00:00:00:02';

let made = 0;

/** Makes a network. @throws where that is not allowed, or not Linux */
export function makeNetwork(): Network {
  const id = `${process.pid}-${made++}`;
  const name = (machine: Machine) => `pdex-${machine}-${id}`;
  const remove = () => {
    for (const machine of ['near', 'far'] as const) ip('netns', 'del', name(machine));
  };

  ip('netns', 'add', name('near'));
  ip('netns', 'add', name('far'));
  onTestFinished(remove);
  ip('link', 'add', 'near', 'netns', name('near'), 'type', 'veth', 'peer', 'name', 'far', 'netns', name('far'));
  ip('-n', name('far'), 'link', 'set', 'far', 'address', FAR_CARD, 'up');
  ip('-n', name('near'), 'link', 'set', 'near', 'up');
  ip('-n', name('near'), 'link', 'set', 'lo', 'up');
  ip('-n', name('near'), 'address', 'add', `${NEAR}/30`, 'dev', 'near');
  ip('-n', name('far'), 'address', 'add', `${FAR}/30`, 'dev', 'far');
  // A router in between would not tell either that the far machine has gone.
  ip('-n', name('near'), 'neighbour', 'replace', FAR, 'lladdr', FAR_CARD, 'dev', 'near', 'nud', 'permanent');

  // Small buffers are soon full.
  for (const machine of ['near', 'far'] as const) {
    tune(name(machine), 'tcp_wmem', '4096 16384 65536');
    tune(name(machine), 'tcp_rmem', '4096 16384 65536');
  }

  return {
    address: NEAR,
    start(machine, module, args) {
      const execArgv = ['netns', 'exec', name(machine), process.execPath];
      const child = fork(module, args, { execPath: 'ip', execArgv, silent: true });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    },
    cut: () => ip('-n', name('far'), 'address', 'flush', 'dev', 'far'),
    setRetries: (count) => tune(name('near'), 'tcp_retries2', String(count)),
  };
}

/** Whether networks can be made here: on Linux, by root. */
export function canMakeNetworks(): boolean {
  const name = `pdex-try-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return true;
  } catch {
    return false;
  }
}

function tune(machine: string, key: string, value: string): void {
  ip('netns', 'exec', machine, 'sh', '-c', `echo ${value} > /proc/sys/net/ipv4/${key}`);
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'ignore' });
}
