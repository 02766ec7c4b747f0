import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeInstalled, PROGRAM_PATH } from '../support/installed.js';
import { useFolder } from '../support/process.js';

const run = promisify(execFile);
const folder = await useFolder('bakery-nginx-tls-');

describeInstalled('nginx', ['nginx', 'openssl'], () => {
  it('accepts deploy/nginx.conf with deploy/nginx.tls.conf and a certificate, as docker-compose.production.yml mounts them', async () => {
    const tls = join(folder, 'tls');
    await mkdir(tls);
    const request = 'req -x509 -newkey rsa:2048 -nodes -subj /CN=api.bakery.example';
    const files = ['-keyout', join(tls, 'key.pem'), '-out', join(tls, 'certificate.pem')];
    await run('openssl', [...request.split(' '), ...files]);
    await copyFile('deploy/nginx.tls.conf', join(tls, 'server.conf'));
    // nginx resolves the name of the processes when it reads the file.
    const configuration = (await readFile('deploy/nginx.conf', 'utf8')).replace(
      'replica:8080',
      '127.0.0.1:8080',
    );
    await writeFile(join(folder, 'nginx.conf'), configuration);
    const directives = `pid ${join(folder, 'nginx.pid')}; error_log stderr;`;
    const { stderr } = await run('nginx', ['-t', '-c', join(folder, 'nginx.conf'), '-g', directives], {
      env: { PATH: PROGRAM_PATH },
    });
    expect(stderr).toContain('test is successful');
  });
});
