// Builds dist/: one stylesheet, one script and the icon, each named by its
// content's hash and stored compressed beside itself, and manifest.json, which
// maps plain names to hashed ones. The Go package `assets` embeds the folder.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import esbuild from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist");
const scratch = mkdtempSync(join(tmpdir(), "podproof-web-"));

mkdirSync(dist, { recursive: true });
for (const old of readdirSync(dist)) {
  if (old !== ".keep") rmSync(join(dist, old));
}

const sheet = join(scratch, "app.css");
execFileSync(
  process.execPath,
  [join(root, "node_modules/@tailwindcss/cli/dist/index.mjs"), "--input", join(root, "src/app.css"), "--output", sheet],
  { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
);

const target = ["chrome111", "firefox128", "safari16.4"];
const { outputFiles } = await esbuild.build({
  entryPoints: [join(root, "src/app.ts"), sheet],
  outdir: scratch,
  entryNames: "[name]",
  bundle: true,
  minify: true,
  format: "esm",
  target,
  legalComments: "none",
  write: false,
  logLevel: "warning",
});

const built = outputFiles.map((f) => ({ name: f.path.slice(f.path.lastIndexOf("/") + 1), data: Buffer.from(f.contents) }));
built.push({ name: "icon.svg", data: readFileSync(join(root, "src/icon.svg")) });

const manifest = {};
for (const { name, data } of built) {
  const ext = extname(name);
  const hash = createHash("sha256").update(data).digest("hex").slice(0, 12);
  const hashed = `${name.slice(0, -ext.length)}-${hash}${ext}`;
  manifest[name] = hashed;
  writeFileSync(join(dist, hashed), data);
  writeFileSync(join(dist, `${hashed}.gz`), gzipSync(data, { level: 9 }));
  writeFileSync(
    join(dist, `${hashed}.br`),
    brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length } }),
  );
}
writeFileSync(join(dist, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
rmSync(scratch, { recursive: true });

for (const [name, hashed] of Object.entries(manifest)) {
  const size = (file) => readFileSync(join(dist, file)).length;
  console.log(`${name}: ${size(hashed)} bytes, ${size(`${hashed}.br`)} with brotli`);
}
