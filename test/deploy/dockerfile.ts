import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
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

/** Where and with what an image is built. */
export type BuildOptions = {
  readonly dockerfile: string;
  /** The folder whose files COPY may take. */
  readonly context: string;
  readonly folder: string;
  /** Variables of the RUN instructions, besides those of the Dockerfile. */
  readonly env: NodeJS.ProcessEnv;
  /** What `npm run build` has written before, from the same files. It is copied in place of building again. */
  readonly built?: string;
};

/**
 * Builds an image without Docker: carries out the instructions of a Dockerfile in a folder, with the commands of this machine
 * in place of those of the base images, as the user of this process.
 *
 * @throws Error for an instruction that it does not know, and if a command fails
 */
export async function buildImage(options: BuildOptions): Promise<Image> {
  const { root, env, user, command, healthcheck, folder } = await carryOut(options);
  if (command === undefined || healthcheck === undefined) throw new Error('the image starts nothing');
  return { folder: join(root, folder), env, user, command, healthcheck };
}

/** Builds the first stage of an image. @returns its folder */
export async function buildFirstStage(options: BuildOptions): Promise<string> {
  const [first = ''] = options.dockerfile.split(/\n(?=FROM )/).filter((text) => /^FROM /m.test(text));
  const { root, folder } = await carryOut({ ...options, dockerfile: first });
  return join(root, folder);
}

async function carryOut({ dockerfile, context, folder, env, built }: BuildOptions): Promise<Stage> {
  const stages = new Map<string, Stage>();
  // What .dockerignore excludes by its path, below a folder that it lets through.
  const lines = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n');
  const ignored = new Set(lines.filter((line) => /^[^!#*]/.test(line)).map((line) => join(context, line)));
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
      else cpSync(join(context, path), to, { recursive: true, filter: (from) => !ignored.has(from) });
    }
  }

  async function execute(text: string): Promise<void> {
    const before = readdirSync(inStage(''));
    await promisify(execFile)('sh', ['-c', text], { cwd: inStage(''), env: { ...env, ...stage.env } });
    // The folder of WORKDIR belongs to root.
    const created = readdirSync(inStage('')).filter((name) => !before.includes(name));
    if (stage.user !== 'root' && created.length > 0)
      throw new Error(`${stage.user} cannot create ${created.join()} in ${stage.folder}`);
  }

  const instructions: Readonly<Record<string, (text: string) => unknown>> = {
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
      if (text === 'npm ci --ignore-scripts') {
        for (const path of ['node_modules', 'explorer/node_modules'])
          if (existsSync(join(context, path))) symlinkSync(join(context, path), inStage(path));
        return;
      }
      if (text === 'npm run build' && built !== undefined) return cpSync(built, inStage('dist'), { recursive: true });
      return execute(text);
    },
    ENV(text) {
      for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value;
    },
    USER(text) {
      stage.user = text;
    },
    EXPOSE() {},
    VOLUME() {},
    HEALTHCHECK(text) {
      stage.healthcheck = JSON.parse(text.replace(/^(--\S+\s+)*CMD /, ''));
    },
    CMD(text) {
      stage.command = JSON.parse(text);
    },
  };

  for (const { name, text } of instructionsOf(dockerfile)) {
    const instruction = instructions[name];
    if (instruction === undefined) throw new Error(`${name} ${text}`);
    await instruction(text);
  }
  return stage;
}

function startStage(root: string): Stage {
  return { root, env: {}, folder: '/', user: 'root' };
}

function instructionsOf(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  return [...lines.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = '', text = '']) => ({ name, text }));
}
