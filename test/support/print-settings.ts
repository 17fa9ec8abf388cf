import { readFileSync, writeFileSync } from 'node:fs';
import { envExample, settingsTable } from '../../src/settings-text.ts';

const README = new URL('../../README.md', import.meta.url);

const TABLE = /^\| flag \| variable \|.*\n(?:\|.*\n)+/m;

writeFileSync(README, readFileSync(README, 'utf8').replace(TABLE, `${settingsTable()}\n`));
writeFileSync(new URL('../../.env.example', import.meta.url), envExample());
