/* SPDX-License-Identifier: MIT */
/* Annotations of parameters in Windows sources. They are empty here, because the checker that reads
 * them exists only on Windows. The old annotations (__in, __out) are not defined, because the C++
 * library has parameters of these names. */
#ifndef OPENPERFLIB_SAL_H
#define OPENPERFLIB_SAL_H

#include <stddef.h>

#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _In_reads_(count)
#define _In_reads_opt_(count)
#define _In_reads_bytes_(count)
#define _In_reads_bytes_opt_(count)
#define _In_range_(low, high)
#define _Inout_
#define _Inout_opt_
#define _Inout_z_
#define _Inout_updates_(count)
#define _Inout_updates_opt_(count)
#define _Inout_updates_bytes_(count)
#define _Out_
#define _Out_opt_
#define _Out_writes_(count)
#define _Out_writes_opt_(count)
#define _Out_writes_z_(count)
#define _Out_writes_opt_z_(count)
#define _Out_writes_to_(count, used)
#define _Out_writes_to_opt_(count, used)
#define _Out_writes_bytes_(count)
#define _Out_writes_bytes_opt_(count)
#define _Out_writes_bytes_to_(count, used)
#define _Out_writes_bytes_to_opt_(count, used)
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _COM_Outptr_
#define _Deref_out_
#define _Field_size_(count)
#define _Field_size_bytes_(count)
#define _Field_z_
#define _Null_terminated_
#define _Notnull_
#define _Maybenull_
#define _Reserved_
#define _Printf_format_string_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Ret_z_
#define _Must_inspect_result_
#define _Check_return_
#define _Success_(condition)
#define _When_(condition, words)
#define _At_(target, words)
#define _Pre_
#define _Post_
#define _Use_decl_annotations_
#define _Analysis_assume_(condition)
#define _Function_class_(name)
#define _Interlocked_operand_

#endif
