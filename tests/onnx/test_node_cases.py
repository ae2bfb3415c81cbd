"""Some of the node cases of the `onnx` package, of every operator at least one.

`python -m tests.onnx` runs all of them.
"""

from __future__ import annotations

import pytest

from tests.onnx.cases import check, node_cases

CASES = [
    "abs", "acos_example", "acosh_example", "adagrad_multiple", "adam", "add", "affine_grid_2d",
    "ai_onnx_ml_array_feature_extractor", "ai_onnx_ml_binarizer",
    "ai_onnx_ml_label_encoder_string_int", "ai_onnx_ml_label_encoder_tensor_mapping",
    "ai_onnx_ml_tree_ensemble_set_membership", "ai_onnx_ml_tree_ensemble_single_tree", "and2d",
    "cast_FLOAT16_to_FLOAT4E2M1", "cast_FLOAT_to_FLOAT8E4M3FNUZ", "cast_FLOAT_to_INT4",
    "cast_UINT2_to_FLOAT", "cast_e8m0_FLOAT_to_FLOAT8E8M0", "castlike_FLOAT_to_INT2",
    "cast_no_saturate_FLOAT_to_FLOAT8E5M2FNUZ", "deform_conv_with_mask_bias",
    "dequantizelinear_uint4", "quantizelinear_int4", "roialign_aligned_false",
    "roialign_mode_max", "tfidfvectorizer_tf_uniandbigrams_skip5", "argmax_no_keepdims_example",
    "argmin_no_keepdims_example", "asin_example", "asinh_example", "atan_example",
    "atanh_example", "attention_4d", "averagepool_2d_precomputed_pads", "basic_conv_with_padding",
    "batchnorm_example", "bitcast_float32_to_int32", "bitshift_right_uint8", "bitwise_and_i32_2d",
    "bitwise_not_2d", "bitwise_or_i32_2d", "bitwise_xor_i32_2d", "blackmanwindow",
    "cast_FLOAT_to_FLOAT16", "castlike_FLOAT_to_FLOAT16", "causal_conv_with_state_basic",
    "ceil_example", "celu", "center_crop_pad_crop", "clip_example", "col2im", "compress_0",
    "concat_1d_axis_0", "constant", "constant_pad", "constantofshape_float_ones",
    "convinteger_without_padding", "convtranspose", "cos_example", "cosh_example", "cumprod_1d",
    "cumsum_1d", "depthtospace_example", "dequantizelinear", "det_2d", "dft_opset19",
    "div_example", "dropout_default", "dynamicquantizelinear", "einsum_transpose", "elu_example",
    "equal", "erf", "exp_example", "expand_dim_changed", "eyelike_without_dtype", "flatten_axis0",
    "flexattention", "floor_example", "gather_0", "gather_elements_0", "gathernd_example_int32",
    "gelu_tanh_1", "gemm_default_zero_bias", "globalaveragepool", "globalmaxpool", "greater",
    "greater_equal", "gridsample", "group_normalization_example", "gru_defaults", "hammingwindow",
    "hannwindow", "hardmax_example", "hardsigmoid_example", "hardswish", "identity", "if",
    "instancenorm_example", "isinf", "isnan", "l2normalization_axis_0",
    "layer_normalization_4d_axis0", "leakyrelu_example", "less", "less_equal",
    "linear_attention_linear", "log_example", "logsoftmax_example_1", "loop11",
    "lppool_1d_default", "lrn", "lstm_defaults", "matmul_2d", "matmulinteger", "max_example",
    "maxpool_2d_uint8", "maxunpool_export_without_output_shape", "mean_example",
    "melweightmatrix", "min_example", "mish",
    "nesterov_momentum", "mod_mixed_sign_float64", "mul_example", "mvn",
    "neg_example", "nllloss_NC", "nonmaxsuppression_suppress_by_IOU", "nonzero_example", "not_2d",
    "onehot_without_axis", "optional_get_element_optional_tensor",
    "optional_has_element_tensor_input", "or2d", "pow_example", "prelu_example", "qlinearconv",
    "qlinearmatmul_2D_uint8_float32", "quantizelinear", "range_float_type_positive_delta",
    "reciprocal_example", "reduce_l1_do_not_keepdims_example",
    "reduce_l2_do_not_keepdims_example", "reduce_log_sum_desc_axes",
    "reduce_log_sum_exp_do_not_keepdims_example", "reduce_max_do_not_keepdims_example",
    "reduce_mean_do_not_keepdims_example", "reduce_min_do_not_keepdims_example",
    "reduce_prod_do_not_keepdims_example", "reduce_sum_do_not_keepdims_example",
    "reduce_sum_square_do_not_keepdims_example", "regex_full_match_basic", "relu",
    "reshape_reordered_all_dims", "resize_upsample_scales_nearest", "reversesequence_time",
    "rms_normalization_4d_axis0", "rotary_embedding", "round", "scan_sum",
    "scatter_elements_without_axis", "scatter_without_axis", "scatternd", "sce_none",
    "selu_example", "sequence_insert_at_back", "sequence_map_identity_1_sequence",
    "shape_example", "shrink_hard", "sigmoid_example", "sign", "simple_rnn_defaults",
    "sin_example", "sinh_example", "size_example", "slice", "softmax_example", "softplus_example",
    "softsign_example", "spacetodepth", "split_equal_parts_1d_opset13", "split_to_sequence_1",
    "sqrt_example", "squeeze", "stft", "string_concat", "string_split_basic",
    "strnormalizer_nostopwords_nochangecase", "sub_example", "sum_example", "swiglu", "swish",
    "tan_example", "tanh_example", "tensorscatter", "thresholdedrelu_example", "tile", "top_k",
    "transpose_default", "triu", "unique_sorted_without_axis", "unsqueeze_axis_0",
    "upsample_nearest", "where_example", "xor2d",
]  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_node_case(name: str) -> None:
    check(node_cases()[f"test_{name}"])
