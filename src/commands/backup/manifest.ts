import 'reflect-metadata'; // for the decorators: the command `db` does not load Nest
import { plainToInstance, Type } from 'class-transformer';
import {
  IsArray,
  IsInt,
  IsISO8601,
  IsObject,
  IsString,
  Matches,
  ValidateNested,
  validateSync,
} from 'class-validator';

/** Table whose rows are part of a backup. `name` and `columns` are SQL identifiers, quoted if necessary. */
export class Table {
  @IsString() readonly name!: string;
  /** Columns in the order in which the backup contains them. */
  @IsArray() @IsString({ each: true }) readonly columns!: readonly string[];
}

/** Description of a backup's content. A backup may come from an untrusted source, so the manifest is validated. */
export class Manifest {
  /** Increases with every incompatible change of the format. */
  @IsInt() readonly format!: number;
  /** Time of the snapshot. */
  @IsISO8601() readonly createdAt!: string;
  @IsArray() @Matches(/^\w+$/, { each: true }) readonly migrations!: readonly string[];
  @IsArray() @ValidateNested({ each: true }) @Type(() => Table) readonly tables!: readonly Table[];
  /** Last value of each sequence by its name. The value is null if the sequence was never used. */
  @IsObject() readonly sequences!: Readonly<Record<string, string | null>>;
  /** Hexadecimal SHA-256 of every other file of the backup, by its path. */
  @IsObject() readonly checksums!: Readonly<Record<string, string>>;
}

export function parseManifest(text: string): Manifest {
  const manifest = plainToInstance(Manifest, JSON.parse(text) as object);
  const [error] = validateSync(manifest, { forbidUnknownValues: true });
  if (error !== undefined) throw new Error(`the manifest has a bad ${error.property}`);
  return manifest;
}
