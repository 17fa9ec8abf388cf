import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What a container of an image starts. */
export type Image = {
  /** The folder in which the commands run. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly command: Command;
  readonly healthcheck: Command;
};

type Command = readonly [string, ...string[]];
type Instruction = { readonly name: string; readonly text: string };

/** One stage of a build. Its files are in a folder of this machine. */
type Stage = {
  readonly root: string;
  readonly env: Record<string, string>;
  folder: string;
  user: string;
  command?: Command;
  healthcheck?: Command;
};

/**
 * Builds an image without Docker: carries out the instructions of a Dockerfile in a folder, with the commands of this machine
 * in place of those of the base images, as the user of this process.
 *
 * @param context the folder whose files COPY may take
 * @param env variables of the RUN instructions, besides those of the Dockerfile
 * @throws Error for an instruction that it does not know, and if a command fails
 */
export async function build(
  dockerfile: string,
  context: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Image> {
  const stages = new Map<string, Stage>();
  let stage = startStage(join(folder, 'none'));

  const inStage = (path: string) => join(stage.root, stage.folder, path);

  function copy(text: string): void {
    const words = text.split(' ').filter((word) => !word.startsWith('--'));
    const [, from] = /--from=(\S+)/.exec(text) ?? [];
    const target = words.pop() ?? '';
    for (const path of words) {
      const to = inStage(words.length > 1 ? join(target, path) : target);
      // Each stage is copied from at most once, and it is quicker to move its files.
      if (from !== undefined) renameSync(join(stages.get(from)?.root ?? '', path), to);
      else cpSync(join(context, path), to, { recursive: true });
    }
  }

  const carryOut: Readonly<Record<string, (text: string) => unknown>> = {
    FROM(text) {
      const [, name = 'last'] = /^\S+(?: AS (\S+))?$/.exec(text) ?? [];
      stage = startStage(join(folder, name));
      stages.set(name, stage);
    },
    WORKDIR(text) {
      stage.folder = text;
      mkdirSync(join(stage.root, text), { recursive: true });
    },
    COPY: copy,
    RUN(text) {
      // The packages for a build are those of the context, from the same lockfile. To install them takes half a minute.
      if (text === 'npm ci --ignore-scripts')
        return symlinkSync(join(context, 'node_modules'), inStage('node_modules'));
      return promisify(execFile)('sh', ['-c', text], { cwd: inStage(''), env: { ...env, ...stage.env } });
    },
    ENV(text) {
      for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value;
    },
    USER(text) {
      stage.user = text;
    },
    EXPOSE() {},
    HEALTHCHECK(text) {
      stage.healthcheck = JSON.parse(text.replace(/^(--\S+\s+)*CMD /, ''));
    },
    CMD(text) {
      stage.command = JSON.parse(text);
    },
  };

  for (const { name, text } of instructionsOf(dockerfile)) {
    const instruction = carryOut[name];
    if (instruction === undefined) throw new Error(`${name} ${text}`);
    await instruction(text);
  }
  const { root, env: own, user, command, healthcheck } = stage;
  if (command === undefined || healthcheck === undefined) throw new Error('the image starts nothing');
  return { folder: join(root, stage.folder), env: own, user, command, healthcheck };
}

function startStage(root: string): Stage {
  return { root, env: {}, folder: '/', user: 'root' };
}

function instructionsOf(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  return [...lines.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = '', text = '']) => ({ name, text }));
}
